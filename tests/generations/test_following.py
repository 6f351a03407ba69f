"""A generation's log follows the tenant's: what is new comes in, and what was erased makes it unusable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.capture.history.importing import import_file
from reverie.errors import ConflictError
from reverie.generations.catalog import LiveMemory, add_generation
from reverie.generations.following import follow_log
from reverie.store.database import Store
from tests.conftest import Databases
from tests.generations.conftest import plan
from tests.promises.compact import TENANT, UNTIL


def test_it_takes_what_is_new_once_and_refuses_what_was_erased(
    live: LiveMemory,
    databases: Databases,
    history: Path,
    conn: psycopg.Connection[Any],
) -> None:
    generation, store = add_generation(live, plan()), live.work.store

    def follow(there: Store) -> dict[str, int]:
        with store.transaction(TENANT) as reading, there.transaction(TENANT) as writing:
            return follow_log(reading, writing, TENANT, generation)

    with databases() as url, Store.open(url, size=1) as there:
        import_file(store, history, tenant_id=TENANT, now=UNTIL)
        conn.execute(
            """insert into log.recalls (tenant_id, id, subject_id, asked_at, question, policy_hash, item_ids, dropped,
                   standing) values (%s, gen_random_uuid(), 'ana', %s, 'Who?', 'p', '{}', 0, 'kept')""",
            [TENANT, UNTIL],
        )
        turns = conn.execute("select count(*) from log.turns").fetchone()
        assert (follow(there)["turns"],) == turns
        with there.transaction(TENANT) as reading:
            marks = reading.execute("select standing from log.recalls").fetchall()
        assert marks == [(None,)], "the generation has not counted it"
        assert not any(follow(there).values())
        conn.execute("delete from log.turns where subject_id = 'ana'")
        with pytest.raises(ConflictError, match="rows of log.turns were removed"):
            follow(there)
