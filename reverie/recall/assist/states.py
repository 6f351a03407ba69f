"""The feed of subjects' states, in versions, polled with a cursor.

A poll notices changes: it compares states with the hashes of those last noticed. So a stage need not know of the feed,
and a rebuild that makes the same memory again is no change. The feed gives only the latest version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from reverie.language.sensitive.classes import classes_among
from reverie.policy.sensitivity import SensitiveClass, SensitivityPolicy
from reverie.store.queries import queries, variants
from reverie.store.session import Statement, TenantSession

#: Parts of a state that are lists of statements.
_LISTS = ("facts", "aims", "rules", "scaffold")


@dataclass(frozen=True, kw_only=True, slots=True)
class SubjectState:
    """A version of a subject's state."""

    #: Stays the same when the subject is erased.
    id: UUID
    #: None: the subject was erased.
    subject_id: str | None
    version: int
    #: Place in the feed.
    position: int
    #: When the change was noticed, by the clock.
    changed_at: datetime
    #: facts, aims, rules, scaffold, narrative, mood, tie, difficult_since, relationship; None: erased or not recalled.
    state: Mapping[str, Any] | None
    #: Number of sensitive items left out.
    left_out: int = 0


async def poll_states(
    session: TenantSession,
    *,
    after: int = 0,
    subjects: Sequence[str] | None = None,
    now: datetime,
    limit: int,
    sensitivity: SensitivityPolicy,
) -> list[SubjectState]:
    """Notice changes, and return up to `limit` states after a place in the feed, in the order of their changes.

    `session` must be a worker's. With `subjects`, states that were erased after the place are returned too, as they
    name no subject. Items that the policy withholds from messages or from exports are left out.
    """
    params = {
        "tenant": session.tenant_id,
        "subjects": None if subjects is None else list(subjects),
        "after": after,
        "now": now,
        "limit": limit,
    }
    sql, notice = queries("states"), variants("states", "notice", (("", "some"),))
    _, _, found = await session.run_all(
        Statement(sql["lock"], params),
        Statement(notice[("some",) if subjects is not None else ("",)], params),
        Statement(sql["page"], params, row=SubjectState),
    )
    withheld = frozenset((*sensitivity.withhold, *sensitivity.not_exported))
    return [without_sensitive_parts(each, withheld) for each in found]


def without_sensitive_parts(found: SubjectState, withheld: frozenset[SensitiveClass]) -> SubjectState:
    """Return a state without items of these classes, and with their number; pure."""
    if found.state is None or not withheld:
        return found
    kept: dict[str, Any] = dict(found.state)
    left_out = 0
    for name in _LISTS:
        kept[name] = [each for each in found.state[name] if not classes_among(_words(each), withheld)]
        left_out += len(found.state[name]) - len(kept[name])
    if kept["narrative"] and classes_among(kept["narrative"]["text"], withheld):
        kept["narrative"] = None
        left_out += 1
    return SubjectState(
        id=found.id,
        subject_id=found.subject_id,
        version=found.version,
        position=found.position,
        changed_at=found.changed_at,
        state=kept,
        left_out=left_out,
    )


def _words(part: Mapping[str, Any]) -> str:
    """Return the text of an item: its content, or its key and value."""
    if "content" in part:
        return str(part["content"])
    value = part["value"]
    said = value if isinstance(value, str) else orjson.dumps(value).decode()
    return f"{part.get('key') or ' '.join(part.get('path', ()))}: {said}"
