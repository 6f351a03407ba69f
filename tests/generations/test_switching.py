"""The database of a generation becomes the memory that it replaced, and itself again; nothing equal is touched."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from reverie.generations.switching import apply_difference, hold, stage_difference
from reverie.policy import load_policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.queries import queries
from reverie.store.tenants import ensure_tenant
from tests.conftest import Databases
from tests.promises.compact import TENANT, UNTIL, policy
from tests.promises.world import live


def test_recalls_are_marked_by_the_memory_that_is_live(databases: Databases) -> None:
    with databases() as here, databases() as beside, Store.open(here) as store, Store.open(beside) as there:
        for each, counted in ((store, UUID(int=1)), (there, UUID(int=2))):
            with each.transaction(TENANT) as conn:
                ensure_tenant(conn, TENANT, "reverie")
                conn.execute(
                    """insert into log.recalls (tenant_id, id, subject_id, asked_at, question, policy_hash, item_ids,
                           dropped, standing)
                       select %(tenant)s, x, 'ana', %(at)s, '?', 'p', '{}', 0, case when x = %(id)s then 'counted' end
                       from unnest(%(ids)s) x""",
                    {"tenant": TENANT, "at": UNTIL, "id": counted, "ids": [UUID(int=1), UUID(int=2)]},
                )
                conn.execute("insert into memory.accesses values (%s, %s, gen_random_uuid())", [TENANT, counted])
        with connect(beside) as owner:
            owner.execute(queries("switching")["make_kept"])
        worker = {"role": "worker", "tenant": TENANT}
        with connect(here, **worker) as snapshot, connect(here, **worker) as writer:
            snapshot.execute("begin isolation level repeatable read")
            with there.transaction(TENANT) as conn:
                staged = stage_difference(snapshot, conn, writer, TENANT)
            snapshot.execute("rollback")
            with writer.transaction():
                apply_difference(writer, TENANT, staged)
        with there.transaction(TENANT) as conn:
            hold(conn, TENANT, "replaced")
        for each, marks in ((store, [None, "counted"]), (there, ["counted", None])):
            with each.transaction(TENANT) as conn:
                found = conn.execute("select standing from log.recalls order by id").fetchall()
            assert [mark for (mark,) in found] == marks


def test_a_memory_is_switched_and_both_can_be_had_again(databases: Databases, history: Path) -> None:
    with databases() as here, databases() as beside, Store.open(here) as store, Store.open(beside) as there:
        live(store, TENANT, policy(), history, UNTIL)
        live(there, TENANT, load_policy("brain"), history, UNTIL)
        before, after = digest(store, TENANT), digest(there, TENANT)
        assert before.sha256 != after.sha256
        with connect(beside) as owner:
            owner.execute(queries("switching")["make_kept"])
        worker = {"role": "worker", "tenant": TENANT}
        with connect(here, **worker) as snapshot, connect(here, **worker) as writer:
            snapshot.execute("begin isolation level repeatable read")
            with there.transaction(TENANT) as conn:
                staged = stage_difference(snapshot, conn, writer, TENANT)
            snapshot.execute("rollback")
            assert digest(store, TENANT) == before, "nothing is live yet"
            with writer.transaction():
                apply_difference(writer, TENANT, staged)
        assert digest(store, TENANT) == digest(there, TENANT)
        changed = {each.table.name: each for each in staged}
        assert changed["memories"].gone and changed["memories"].added
        assert changed["extractions"].gone <= before.tables["extractions"].rows and "accesses" not in changed
        for wanted, expected in (("replaced", before), ("replaced", before)):
            with there.transaction(TENANT) as conn:
                hold(conn, TENANT, wanted)  # type: ignore[arg-type]
            assert digest(there, TENANT) == expected
