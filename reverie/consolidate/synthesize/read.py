"""Observations, stored profiles and known facts of subjects, from Postgres."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.synthesize.observations import Observation, StoredProfile
from reverie.model import Candidate
from reverie.model.scaffold import EntryRecord, EntryState, ProfileEntry
from reverie.store.queries import queries
from reverie.store.work import Work

_ENTRY_COLUMNS = ("id", "connection_id", "path", "value", "confidence", "basis", "valid_from", "sources", "model")


def waiting_subjects(conn: Connection[Any], work: Work, choice: dict[str, Any], after: str) -> list[str]:
    """Return the next subjects, `after` the given one, with waiting observations that match `choice`."""
    params = work.params() | choice | {"after": after}
    return [row[0] for row in conn.execute(queries("synthesize")["read_waiting"], params)]


def read_profiles(
    conn: Connection[Any], work: Work, choice: dict[str, Any], subject_ids: Sequence[str]
) -> dict[str, StoredProfile]:
    """Return the profiles of those of the subjects that have waiting observations."""
    sql, params = queries("synthesize"), work.params() | choice | {"portion": subject_ids}
    observations: dict[str, list[Observation]] = defaultdict(list)
    for subject_id, *row in conn.execute(sql["read_observations"], params):
        observations[subject_id].append(Observation(*row))
    named = params | {"portion": list(observations)}
    records: dict[str, list[EntryRecord]] = defaultdict(list)
    wrong: dict[str, list[UUID]] = defaultdict(list)
    for subject_id, record, is_wrong in _entry_records(conn.execute(sql["read_entries"], named).fetchall()):
        if not is_wrong:
            records[subject_id].append(record)
        elif record.state != "wrong":
            wrong[subject_id].append(record.entry.id)
    narratives = {subject_id: row for subject_id, *row in conn.execute(sql["read_narratives"], named)}
    failures = dict(conn.execute(sql["read_failures"], named).fetchall())
    profiles = {}
    for subject_id, waiting in observations.items():
        _, narrative, told_until, made_at = narratives.get(subject_id, (None, "", None, None))
        profiles[subject_id] = StoredProfile(
            subject_id=subject_id,
            observations=tuple(waiting),
            records=tuple(records[subject_id]),
            wrong=tuple(wrong[subject_id]),
            narrative=narrative,
            told_until=told_until,
            made_at=made_at,
            failures=failures.get(subject_id, 0),
        )
    return profiles


def known_facts(conn: Connection[Any], work: Work, candidates: Sequence[Candidate]) -> set[UUID]:
    """Return the ids of candidates that are known word for word, or that a person found wrong or had forgotten.

    The caller holds the lock of their subjects.
    """
    columns = {
        "ids": [each.id for each in candidates],
        "subject_ids": [each.subject_id for each in candidates],
        "contents": [each.content for each in candidates],
    }
    rows = conn.execute(queries("synthesize")["read_known_facts"], work.params() | columns).fetchall()
    return {id_ for (id_,) in rows}


def _entry_records(rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[str, EntryRecord, bool]]:
    """Yield subject, record, and whether the entry is based on something that a person found wrong."""
    number = len(_ENTRY_COLUMNS)
    by_id: dict[UUID, ProfileEntry] = {}
    for _, *row in rows:
        values = dict(zip(_ENTRY_COLUMNS, row[:number], strict=True))
        entry = ProfileEntry(**values | {"path": tuple(values["path"]), "sources": tuple(values["sources"])})
        by_id[entry.id] = entry
    state: EntryState
    valid_to: datetime | None
    for subject_id, id_, *row in rows:
        state, valid_to, replaced_by, is_wrong = row[number - 1 :]
        record = EntryRecord(entry=by_id[id_], state=state, valid_to=valid_to, by=by_id.get(replaced_by))
        yield subject_id, record, is_wrong
