"""Corrections by a person: rows of the log, so that they hold in every rebuild (spec E4).

The transaction that writes such a row also marks the items that it withholds or pins. Recall and contexts follow at
once; the deferred tier then processes the correction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

from reverie.capture.mending import mend_text
from reverie.errors import InputError, NotFoundError
from reverie.model import ordered_id, replacement_of, require_aware, stable_id
from reverie.policy import Policy
from reverie.store.marks import ADD_PIN, MARK
from reverie.store.queries import queries
from reverie.store.queue import Waiting, enqueue_statement
from reverie.store.session import Statement, TenantSession

#: Maximum characters of a replacement, and of an actor's name.
MOST_CHARACTERS = 10_000
LONGEST_ACTOR = 200

#: wrong: it is not true; replace: something else is true; forget: it is true and not to be remembered; pin: it is to be
#: kept and always considered; unpin: undo a pin.
Asked = Literal["wrong", "replace", "forget", "pin", "unpin"]
#: The first three withhold a memory; keep_apart: it was merged or superseded by mistake.
Retractable = Literal["wrong", "replace", "forget", "keep_apart"]
RETRACTABLE: Sequence[Retractable] = ("wrong", "replace", "forget", "keep_apart")

#: The effect of each correction, in words for people.
_WITHHELD = "From now on recall and contexts withhold the memory and the turns that it was drawn from."
EFFECT: Mapping[Asked, str] = {
    "wrong": f"{_WITHHELD} It is forgotten for good when a worker runs next.",
    "replace": f"{_WITHHELD} They give the replacement instead, which becomes a memory when a worker runs next.",
    "forget": f"{_WITHHELD} It is forgotten for good when a worker runs next; the log keeps what was said.",
    "pin": "From now on every recall considers the memory. It neither fades nor is forgotten once a worker has run.",
    "unpin": "Once a worker has run, the memory fades and can be forgotten like any other.",
}
#: The effect of the retraction of each correction.
_GIVEN = "From now on recall and contexts give the turns again"
_RETURNS = "The memory itself returns when a worker runs next, as if the correction had never been made."
RETRACTED: Mapping[Retractable, str] = {
    "wrong": f"{_GIVEN}. {_RETURNS}",
    "replace": f"{_GIVEN} instead of the replacement. {_RETURNS}",
    "forget": f"{_GIVEN}. {_RETURNS}",
    "keep_apart": "When a worker runs next, the memories are merged or superseded again, "
    "as if that had never been undone.",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Corrected:
    """A recorded correction and its effect."""

    #: The id of the correction.
    id: UUID
    subject_id: str
    memory_id: UUID
    #: The id of the memory that the replacement becomes; None: nothing replaces it.
    replacement_id: UUID | None
    #: The effect, in words for people.
    effect: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CorrectionAsked:
    """A person's request about a memory."""

    memory_id: UUID
    #: None: `replace` if there is content, else `wrong`.
    asked: Asked | None = None
    #: The correct text, for `replace`.
    content: str | None = None
    #: The author of the correction.
    actor: str | None = None
    #: The memory must be of this subject; None: of any.
    subject_id: str | None = None


async def correct_memory(
    session: TenantSession, correction: CorrectionAsked, *, policy: Policy, as_of: datetime
) -> Corrected:
    """Record a person's correction of a memory, and withhold, replace or pin the memory at once.

    The row of the log holds in every rebuild; the deferred tier processes it.

    Raises:
        NotFoundError: the tenant (or the subject, if one is named) has no such memory.
        InputError: the content or actor is blank or too long, or a forgotten memory is to be pinned or unpinned.
    """
    as_of, memory_id = require_aware(as_of), correction.memory_id
    asked = correction.asked or ("wrong" if correction.content is None else "replace")
    content = _text("content", correction.content, MOST_CHARACTERS)
    actor = _text("actor", correction.actor, LONGEST_ACTOR)
    if (asked == "replace") != (content is not None):
        raise InputError("A replacement needs content; other corrections must not have it.")
    sql, memory = queries("corrections"), {"tenant": session.tenant_id, "memory": memory_id}
    async with session.transaction() as transaction:
        rows = await transaction.run(Statement(sql["read_correctable"], memory))
        subject_id, kind = _correctable(rows, memory_id, correction.subject_id, asked)
        row = memory | {"subject": subject_id, "as_of": as_of, "run": None}
        row |= {"language": policy.language, "content": content}
        before = [_Before(*one) for one in await transaction.run(Statement(sql["read_before"], row))]
        id_ = _id_after(before, session.tenant_id, memory_id, as_of, asked=asked, content=content)
        row |= {"id": id_}
        logged = {"correction": asked, "content": content, "actor": actor, "memory_kind": kind}
        statements = [Statement(sql["add_correction"], row | logged)]
        replacement = None
        if asked == "pin":
            statements.append(Statement(ADD_PIN, row))
        elif asked != "unpin":
            mark = {"wrong": "corrected", "replace": "replaced", "forget": "forgotten"}[asked]
            kind, replacement = replacement_of(kind, as_of, session.tenant_id, subject_id, id_)
            importance = getattr(policy.extract.importance, kind)
            new = {"replacement": replacement, "kind": kind, "content": content, "importance": importance}
            # first the marks: the log keeps which turns and events they withhold
            statements = [Statement(MARK, row | {"mark": mark}), *statements]
            statements.append(Statement(sql["add_replacement"], row | new))
        statements.append(_enqueue_statement(session.tenant_id, subject_id, policy, as_of))
        await transaction.commit_all(*statements)
    return Corrected(
        id=id_,
        subject_id=subject_id,
        memory_id=memory_id,
        replacement_id=replacement if asked == "replace" else None,
        effect=EFFECT[asked],
    )


async def retract_correction(
    session: TenantSession,
    *,
    memory_id: UUID,
    policy: Policy,
    as_of: datetime,
    subject_id: str | None = None,
    actor: str | None = None,
    kinds: Sequence[Retractable] = RETRACTABLE,
) -> Corrected:
    """Retract the latest correction of these kinds of a memory, named by its own id or its replacement's.

    The row of the log holds in every rebuild: memory is made as if the correction had never been made. `unpin` undoes
    a pin.

    Raises:
        NotFoundError: no correction of such a memory is in force.
        InputError: the actor is blank or too long, or the replacement was corrected as well; retract that first.
    """
    as_of, actor = require_aware(as_of), _text("actor", actor, LONGEST_ACTOR)
    sql, memory = queries("corrections"), {"tenant": session.tenant_id, "memory": memory_id, "kinds": list(kinds)}
    async with session.transaction() as transaction:
        rows = await transaction.run(Statement(sql["read_in_force"], memory))
        if not rows or subject_id not in (None, rows[0][1]):
            raise NotFoundError(f"No correction of memory {memory_id} is in force.")
        _, subject_id, corrected_id, kind, at, replacement, is_corrected = rows[0]
        if is_corrected:
            raise InputError(f"Its replacement {replacement} was corrected as well: take that back first.")
        row = {"tenant": session.tenant_id, "subject": subject_id, "memory": corrected_id, "as_of": as_of}
        row |= {"run": None, "actor": actor, "language": policy.language, "content": None}
        statements: list[Statement[Any]] = []
        # one row keeps two memories apart, or two rows if others lay between them
        together = [one[0] for one in rows if one[2:5] == (corrected_id, kind, at)]
        for correction_id in together if kind == "keep_apart" else together[:1]:
            id_ = stable_id(as_of, "retract", session.tenant_id, str(correction_id))
            row |= {"id": id_, "other": correction_id}
            statements += [Statement(sql["add_retraction"], {**row}), Statement(sql["lift"], {**row})]
        if replacement is not None:  # withheld until the subject's memory is rebuilt without it
            statements.append(Statement(MARK, row | {"memory": replacement, "mark": "corrected"}))
        statements.append(_enqueue_statement(session.tenant_id, subject_id, policy, as_of))
        await transaction.commit_all(*statements)
    return Corrected(id=id_, subject_id=subject_id, memory_id=corrected_id, replacement_id=None, effect=RETRACTED[kind])


class _Before(NamedTuple):
    """An earlier correction of the same subject at the same time; a clock may be fixed."""

    id: UUID
    memory_id: UUID
    asked: str
    content: str | None
    is_in_force: bool


def _id_after(
    before: Sequence[_Before], tenant_id: str, memory_id: UUID, as_of: datetime, *, asked: Asked, content: str | None
) -> UUID:
    """Return the id of a correction, which sorts after those made before it at the same time.

    If the memory's last correction in force asks for the same, return its id.
    """
    last = next((one for one in reversed(before) if one.memory_id == memory_id and one.is_in_force), None)
    if last is not None and (last.asked, last.content) == (asked, content):
        return last.id
    return ordered_id(as_of, len(before), asked, tenant_id, str(memory_id))


def _correctable(rows: Sequence[Any], memory_id: UUID, subject_id: str | None, asked: Asked) -> tuple[str, str]:
    """Return subject and kind of the memory. Raises NotFoundError, and InputError for a pin of a forgotten memory."""
    if not rows or subject_id not in (None, rows[0][0]):
        raise NotFoundError(f"There is no memory {memory_id}.")
    owner, kind, is_forgotten = rows[0]
    if asked in ("pin", "unpin") and is_forgotten:
        raise InputError(f"Memory {memory_id} is forgotten: it cannot be pinned or unpinned.")
    return owner, kind


def _enqueue_statement(tenant_id: str, subject_id: str, policy: Policy, as_of: datetime) -> Statement[Any]:
    waiting = Waiting(subject_id=subject_id, session_id="corrections", turns=0, said_at=as_of, quiet=True)
    return enqueue_statement(tenant_id, [waiting], policy=policy, at=as_of)


def _text(name: str, text: str | None, most: int) -> str | None:
    if text is None:
        return None
    text = mend_text(text).strip()
    if not 0 < len(text) <= most:
        raise InputError(f"{name} has {len(text)} characters; expected 1 to {most:,}.")
    return text
