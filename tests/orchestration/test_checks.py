"""Each check passes on a memory that is well and fails on what it is there for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from reverie.policy import load_policy
from reverie.quality.gates import GATES
from reverie.store.database import Store
from reverie.store.queue import Waiting, enqueue
from tests.orchestration.conftest import AS_OF


@pytest.fixture
def checks(run_job: Callable[..., Any]) -> Callable[..., dict[str, tuple[bool, dict[str, Any]]]]:
    """Run the health job; the result and metadata of each check."""

    def run(**tags: str) -> dict[str, tuple[bool, dict[str, Any]]]:
        result = run_job("health", tags=tags)
        return {
            check.check_name: (check.passed, {name: value.value for name, value in check.metadata.items()})
            for check in result.get_asset_check_evaluations()
        }

    return run


def test_all_is_well(remembered: Store, checks: Callable[..., Any]) -> None:
    found = checks()
    assert {name: passed for name, (passed, _) in found.items()} == dict.fromkeys(
        ("bucket_lag", "queue_lag", "all_embedded", "no_duplicates", "recall_is_exact", *(gate.name for gate in GATES)),
        True,
    )
    assert found["recall_is_exact"][1]["Questions"] == 40


def test_with_no_tenants_all_is_well(store: Store, checks: Callable[..., Any]) -> None:
    assert all(passed for passed, _ in checks().values())


def test_what_is_not_embedded(remembered: Store, checks: Callable[..., Any], conn: Any) -> None:
    conn.execute("delete from memory.vectors where (item_id, tenant_id) in "
                 "(select id, tenant_id from log.turns where tenant_id = 'acme' limit 1)")  # fmt: skip
    # turns that came a minute ago are not late: a worker or the next cycle embeds them
    assert checks()["all_embedded"] == (True, {"Without a vector": 0})
    conn.execute("update log.turns set recorded_at = now() - interval '13 hours'")
    assert checks()["all_embedded"] == (False, {"Without a vector": 1})


def test_what_is_there_twice(remembered: Store, checks: Callable[..., Any], conn: Any) -> None:
    columns = [
        row[0]
        for row in conn.execute(
            "select column_name from information_schema.columns where table_schema = 'memory' "
            "and table_name = 'memories' and is_generated = 'NEVER' and column_name <> 'id'"
        )
    ]
    names = ", ".join(columns)
    conn.execute(
        f"insert into memory.memories (id, {names}) select gen_random_uuid(), {names} from memory.memories "  # noqa: S608
        "where kind = 'preference' and state = 'active' limit 1"
    )
    found = checks()
    assert found["no_duplicates"] == (False, {"Repeated memories": 1})
    assert found["bucket_lag"][0]


def test_what_waits_too_long(log: Store, checks: Callable[..., Any], conn: Any) -> None:
    conn.execute("update log.turns set recorded_at = said_at")
    passed, metadata = checks()["bucket_lag"]
    assert not passed
    assert metadata["Cycles waited"] > 300
    slowest = conn.execute("select min(shard) * 4 / 1024 from log.turns").fetchone()[0]
    assert metadata == {"Cycles waited": metadata["Cycles waited"], "Slowest bucket": slowest}


def test_a_history_that_was_just_imported_is_not_late(log: Store, checks: Callable[..., Any], conn: Any) -> None:
    recorded = conn.execute("update log.turns set recorded_at = %s returning 1", [AS_OF - timedelta(hours=11)]).rowcount
    assert recorded == 56
    assert checks()["bucket_lag"][0]


def test_what_no_worker_takes(remembered: Store, checks: Callable[..., Any], conn: Any) -> None:
    waiting = [Waiting(subject_id="ana", session_id="s1", said_at=AS_OF)]
    for minutes, passed in ((64, True), (66, False)):
        with remembered.transaction("acme") as worker:
            enqueue(worker, "acme", waiting, policy=load_policy("reverie"), at=AS_OF - timedelta(minutes=minutes))
        assert checks()["queue_lag"] == (passed, {"Minutes overdue": minutes - 5, "Sessions": 1})
        conn.execute("delete from ops.queue")


def test_what_recall_does_not_find(remembered: Store, checks: Callable[..., Any], conn: Any) -> None:
    # without its row an item never comes back, as from an approximate index under a filter
    conn.execute(
        "delete from memory.items where item_id in (select item_id from memory.items order by item_id limit 20)"
    )
    passed, metadata = checks()["recall_is_exact"]
    assert not passed
    assert metadata["Share of neighbours found"] < 1


def test_a_policy_that_cannot_be_read_hides_no_other_tenant(log: Store, checks: Callable[..., Any], conn: Any) -> None:
    conn.execute("update log.turns set recorded_at = said_at where tenant_id = 'beta'")
    conn.execute("update ops.tenants set policy = 'moved.toml' where tenant_id = 'acme'")
    found = checks()
    for name in ("bucket_lag", "all_embedded", "recall_is_exact"):
        passed, metadata = found[name]
        assert not passed and metadata["Not measured"].startswith("acme: "), name
    assert found["bucket_lag"][1]["Cycles waited"] > 300
