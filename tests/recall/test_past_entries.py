"""The scaffold as of the past: an entry that a stronger one confirmed held until then."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from reverie.model.scaffold import Basis, ProfileEntry, resolve_entries
from reverie.recall.scaffold import as_object, entries_statement, scaffold_history
from reverie.store.database import Store
from reverie.store.session import perform
from tests.recall.conftest import Corpus, day

Conn = psycopg.Connection[Any]


def entry(number: int, days: float, value: str, basis: Basis) -> ProfileEntry:
    return ProfileEntry(
        id=UUID(int=number), connection_id="", path=("city",), value=value, confidence=0.9, basis=basis,
        valid_from=day(days), sources=(UUID(int=number),),
    )  # fmt: skip


def store_entries(conn: Conn, corpus: Corpus, *entries: ProfileEntry) -> None:
    for each in resolve_entries(entries, most=10)[0]:
        one, by = each.entry, each.by
        conn.execute(
            """insert into memory.scaffold (tenant_id, id, subject_id, path, value, confidence, basis, state,
                   valid_from, valid_to, replaced_by, sources, run_id, policy_hash)
               values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, '')""",
            [
                corpus.tenant, one.id, corpus.subject, list(one.path), Jsonb(one.value), one.confidence, one.basis,
                each.state, one.valid_from, each.valid_to, by and by.id, list(one.sources), UUID(int=0),
            ],
        )  # fmt: skip
    conn.commit()


def test_a_value_held_before_it_was_confirmed(reader: Store, conn: Conn, corpus: Corpus) -> None:
    inferred, said, weaker = (
        entry(1, 1, "Berlin", "inferred"),
        entry(2, 60, "Berlin", "said"),
        entry(3, 70, "Berlin", "inferred"),
    )
    store_entries(conn, corpus, inferred, said, weaker)
    session = reader.session(corpus.tenant)
    for days, holding in ((0, []), (30, [inferred.id]), (60, [said.id]), (80, [said.id])):
        at = day(days) + timedelta(minutes=1)
        found = perform(session.run(entries_statement(corpus.tenant, corpus.subject, at)))
        assert [each.id for each in found] == [each.id for each in found if each.holds(at)] == holding
        assert as_object(found, at) == ({"city": "Berlin"} if holding else {})
    history = perform(scaffold_history(session, subject_id=corpus.subject, as_of=day(80)))
    assert [each.valid_to for each in history] == [day(60), None, None]
