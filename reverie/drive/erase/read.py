"""The turns, events and memories of a target, read in the transaction that erases them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import args_row

from reverie.drive.erase.decide import (
    CorrectionChanges,
    ErasableTurn,
    LoggedCorrection,
    LoggedEvent,
    change_corrections,
    needles,
    text_hashes,
)
from reverie.drive.erase.targets import Target
from reverie.errors import InputError, NotFoundError
from reverie.language.text import CountTokens
from reverie.policy import Policy
from reverie.store.dead_letters import names_any, names_subject
from reverie.store.queries import queries

#: Dead letters read at a time; each may have 64 KiB.
_LETTERS = 500
#: Number of turns that an error names.
_NAMED = 3
_NOUNS = {"turn": "turn or event", "memory": "memory"}


class SharedTurnsError(InputError):
    """The memory shares turns with other memories."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """The data of subjects to erase."""

    subjects: Sequence[str]
    #: Whether everything about the subjects is erased.
    whole: bool
    turns: Sequence[ErasableTurn]
    events: Sequence[LoggedEvent]
    #: Session that is erased, which may hold neither turns nor events.
    session_id: str | None = None
    #: Time before which a retention erases.
    before: datetime | None = None
    #: Memories made only from these turns and events, each with those that were merged into it and stay.
    gone: Mapping[UUID, Sequence[UUID]] = field(default_factory=dict)
    corrections: CorrectionChanges = field(default_factory=lambda: CorrectionChanges(void=(), moved={}, unwritten=()))
    #: Dead letters that name erased data.
    letters: Sequence[UUID] = ()
    #: Hashes of texts with cached vectors.
    hashes: Sequence[bytes] = ()

    @property
    def ids(self) -> list[UUID]:
        """Ids of the turns and events."""
        return [*(turn.id for turn in self.turns), *(event.id for event in self.events)]

    @property
    def items(self) -> list[UUID]:
        """Ids of the turns and events, of memories made only from them, and of the void corrections."""
        return [*self.ids, *self.gone, *self.corrections.unwritten, *self.corrections.void]

    def params(self) -> dict[str, Any]:
        """Return the selection as query parameters."""
        times = [*(turn.said_at for turn in self.turns), *(event.observed_at for event in self.events)]
        return {
            "subjects": list(self.subjects),
            "whole": self.whole,
            "ids": self.ids,
            "items": self.items,
            "before": self.before,
            "since": min(times, default=None),
            "sessions": sorted({*(turn.session_id for turn in self.turns), *filter(None, [self.session_id])}),
            "turn_subjects": [turn.subject_id for turn in self.turns],
            "turn_sessions": [turn.session_id for turn in self.turns],
            "turn_sources": [turn.source_id for turn in self.turns],
            "event_subjects": [event.subject_id for event in self.events],
            "event_sources": [event.source_id for event in self.events],
            "void": list(self.corrections.void),
            "moved": list(self.corrections.moved),
            "moved_to": list(self.corrections.moved.values()),
            "letters": list(self.letters),
            "hashes": list(self.hashes),
        }


def find_subject(conn: Connection[Any], tenant_id: str, target: Target) -> str:
    """Return the subject of a target. Raises NotFoundError if it does not exist, InputError for an ambiguous name."""
    sql, params = queries("erase"), {"tenant": tenant_id}
    if target.kind in ("turn", "memory"):
        row = conn.execute(sql["find_item" if target.kind == "turn" else "find_memory"], params | {"id": target.id})
        if (found := row.fetchone()) is None:
            raise NotFoundError(f"Tenant {tenant_id} has no {_NOUNS[target.kind]} {target.id}.")
        return str(found[0])
    if target.kind == "session":
        return _subject_of_session(conn, tenant_id, target)
    assert target.subject_id is not None
    (known,) = conn.execute(sql["knows_subject"], params | {"subject": target.subject_id}).fetchone() or (False,)
    if not known and not _letters(conn, tenant_id, [target.subject_id], None):
        raise NotFoundError(
            f"Nothing is kept about subject {target.subject_id!r} in tenant {tenant_id}.",
            unknown=("subject", target.subject_id),
        )
    return target.subject_id


def _subject_of_session(conn: Connection[Any], tenant_id: str, target: Target) -> str:
    params = {"tenant": tenant_id, "session": target.session_id}
    found = [row[0] for row in conn.execute(queries("erase")["find_session"], params)]
    if target.subject_id in found:
        return str(target.subject_id)
    if target.subject_id is not None and _letters(conn, tenant_id, [target.subject_id], {str(target.session_id)}):
        return target.subject_id
    if target.subject_id is not None or not found:
        of = f"Subject {target.subject_id!r} of tenant" if target.subject_id is not None else "Tenant"
        raise NotFoundError(f"{of} {tenant_id} has no session {target.session_id!r}.")
    if len(found) > 1:
        raise InputError(f"{len(found)} subjects have a session {target.session_id!r}: name the subject as well.")
    return str(found[0])


def ids_of_target(conn: Connection[Any], tenant_id: str, target: Target) -> list[UUID] | None:
    """Return the ids of turns and events that the target names, or None if it does not name them by id.

    Raises:
        InputError: the memory was not made from turns.
        SharedTurnsError: it shares a turn with other memories.
    """
    if target.kind == "turn" and target.id is not None:
        return [target.id]
    if target.kind != "memory":
        return None
    found = conn.execute(queries("erase")["rests_on"], {"tenant": tenant_id, "memory": target.id}).fetchall()
    if not found:
        raise InputError(
            f"Memory {target.id} was made from other memories or a correction: erase its turns or its session."
        )
    if not target.shared and (shared := [source_id for source_id, others in found if others]):
        named = ", ".join(map(str, shared[:_NAMED]))
        raise SharedTurnsError(
            f"Memory {target.id} shares {len(shared)} of its turns ({named}) with other memories: erase these turns "
            "too (--shared; in the API, shared), or only forget the memory."
        )
    return [source_id for source_id, _ in found]


def select(
    conn: Connection[Any], tenant_id: str, target: Target, subject_id: str, policy: Policy, count_tokens: CountTokens
) -> Selection:
    """Return the selection of a target; the caller has locked the subject. Raises InputError like `ids_of_target`."""
    chosen = {"session": target.session_id, "ids": ids_of_target(conn, tenant_id, target), "before": target.before}
    return select_rows(conn, tenant_id, [subject_id], chosen, policy, count_tokens, whole=target.kind == "subject")


def select_rows(
    conn: Connection[Any],
    tenant_id: str,
    subjects: Sequence[str],
    chosen: Mapping[str, Any],
    policy: Policy,
    count_tokens: CountTokens,
    *,
    whole: bool,
) -> Selection:
    """Return the subjects' `chosen` turns and events (session, ids, before; None: any) and all that goes with them."""
    sql, params = queries("erase"), {"tenant": tenant_id, "subjects": list(subjects)}
    with conn.cursor(row_factory=args_row(ErasableTurn)) as cursor:
        turns = cursor.execute(sql["read_turns"], {**params, **chosen}).fetchall()
    with conn.cursor(row_factory=args_row(LoggedEvent)) as cursor:
        events = cursor.execute(sql["read_events"], {**params, **chosen}).fetchall()
    ids = [*(turn.id for turn in turns), *(event.id for event in events)]
    before = chosen["before"]
    gone: dict[UUID, Sequence[UUID]] = {}
    changes = CorrectionChanges(void=(), moved={}, unwritten=())
    if not whole:
        gone = dict(conn.execute(sql["read_gone"], params | {"items": ids}).fetchall())
        with conn.cursor(row_factory=args_row(LoggedCorrection)) as cursor:
            corrections = cursor.execute(sql["read_corrections"], params | {"items": ids}).fetchall()
        changes = change_corrections(corrections, gone, before=before)
    parts = {*(turn.source_id for turn in turns), *filter(None, [chosen["session"]])}
    hashes = text_hashes(turns, policy.chunk, count_tokens)
    made = {"items": [*ids, *gone, *changes.void], "whole": whole}
    hashes |= {bytes(row[0]) for row in conn.execute(sql["read_hashes"], params | made)}
    return Selection(
        subjects=subjects,
        whole=whole,
        turns=turns,
        events=events,
        session_id=chosen["session"],
        before=before,
        gone=gone,
        corrections=changes,
        letters=_letters(conn, tenant_id, subjects, None if whole else parts),
        hashes=sorted(hashes),
    )


def _letters(
    conn: Connection[Any], tenant_id: str, subjects: Collection[str], parts: Collection[str] | None
) -> list[UUID]:
    """Return the dead letters of these subjects that name one of their turns or sessions in `parts` (None: any)."""
    if parts is not None and not parts:
        return []
    params = {"tenant": tenant_id, "subjects": list(subjects), "needles": needles(subjects)}
    found = []
    with conn.cursor(name="letters") as cursor:
        cursor.itersize = _LETTERS
        for id_, subject_id, payload, field in cursor.execute(queries("erase")["read_letters"], params):
            record = bytes(payload)
            # the subject that an import names is that of all its records, whatever they say
            is_theirs = subject_id is not None or names_subject(record, subjects, field=field)
            if is_theirs and (parts is None or names_any(record, parts)):
                found.append(id_)
    return found
