"""The flows on a real Prefect server: the memory and the ledger that plain Reverie and Dagster make, alone and at once.

One server for the module, since it takes a quarter of a minute to come up.
"""

from __future__ import annotations

import json
import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest
import yaml

from reverie.drive.advance import clearing
from reverie.drive.cycle import catch_up, ingest
from reverie.drive.drain import Drainer
from reverie.drive.maintain import Retention, maintain
from reverie.drive.tenants import for_each_tenant
from reverie.errors import InputError, NotFoundError, StageError
from reverie.inference import Embedder
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.settings import load_settings
from reverie.store.database import Store
from reverie.store.queue import Waiting, enqueue
from reverie.store.work import Work
from tests.orchestration.conftest import AS_OF, TENANTS, digests, forget_everything

if TYPE_CHECKING:
    import dagster as dg

ROOT = Path(__file__).resolve().parents[2]
BUCKETS = ("00", "01", "02", "03")
#: Somebody said these.
SAID = ("ramen", "lisbon", "bruno", "cilantro", "porto", "answers short")

Conn = psycopg.Connection[Any]
RunJob = Callable[..., "dg.ExecuteInProcessResult"]

pytestmark = [
    pytest.mark.timeout(240),
    # a task that is called without a flow has nowhere to log
    pytest.mark.filterwarnings("ignore:Logger 'prefect.task_runs' attempted to send logs:UserWarning"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[None]:
    """A Prefect server on a database of its own."""
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=120):
        yield


@pytest.fixture
def waiting(log: Store, conn: Conn) -> Store:
    """The log of two tenants; every session waits in the queue."""
    fill(log)
    return log


def fill(store: Store) -> None:
    for tenant_id, policy in TENANTS.items():
        with store.transaction(tenant_id) as conn:
            rows = conn.execute("select subject_id, session_id, count(*), max(said_at) from log.turns group by 1, 2")
            sessions = [Waiting(subject_id=a, session_id=b, turns=n, said_at=at) for a, b, n, at in rows]
            enqueue(conn, tenant_id, sessions, policy=load_policy(policy), at=max(one.said_at for one in sessions))


def again(store: Store, conn: Conn) -> None:
    """As if nothing had been worked in yet."""
    forget_everything(conn)
    conn.execute("truncate ops.embeddings, ops.queue, ops.dead_letters")
    fill(store)


def ledger(conn: Conn) -> list[Any]:
    """Every run but for what started it and how long it took, and but for the cycles that Dagster's steps opened."""
    rows = conn.execute(
        "select to_jsonb(r) - '{driver,seconds,finished_at}'::text[] from ops.runs r where stage <> 'cycle'"
    ).fetchall()
    return sorted((row[0] for row in rows), key=lambda row: json.dumps(row, sort_keys=True))


def drivers(conn: Conn) -> list[str]:
    return [row[0] for row in conn.execute("select distinct driver from ops.runs order by 1")]


def left(conn: Conn) -> int:
    (number,) = conn.execute("select count(*) from ops.queue").fetchone() or (0,)
    return int(number)


def cycle(store: Store, embedder: Embedder, key: str) -> None:
    """What a Dagster run of a bucket does, without Dagster."""
    from assets.partitions import in_bucket

    def work(scope: Scope, policy: Policy) -> Iterator[Any]:
        common: dict[str, Any] = {"scope": scope, "policy": policy}
        reports = chain(
            ingest(Work(store=store, as_of=AS_OF, embedder=embedder, **common)),
            catch_up(Work(store=store, as_of=AS_OF, embedder=embedder, **common)),
        )
        yield from clearing(Work(store=store, as_of=AS_OF, **common), reports)
        retention = Retention.of(load_settings())
        yield maintain(Work(store=store, as_of=AS_OF, **common), retention=retention, now=datetime.now(UTC))

    for_each_tenant(store, in_bucket(key), work)


def flow(name: str) -> Any:
    return getattr(import_module(f"flows.{name}"), name)


def test_every_driver_makes_the_same_memory_and_the_same_ledger(
    server: None, waiting: Store, embedder: Embedder, conn: Conn, run_job: RunJob
) -> None:
    counts = flow("drain_due_sessions")(as_of=AS_OF)
    assert (counts["sessions"], counts["failed"], counts["tenants"]) == (24, 0, 2)
    assert (left(conn), drivers(conn)) == (0, ["prefect"])
    by_prefect = (digests(waiting), ledger(conn))

    again(waiting, conn)
    Drainer(store=waiting, embedder=embedder, clock=lambda: AS_OF).drain()
    assert (left(conn), drivers(conn)) == (0, ["reverie"])
    assert (digests(waiting), ledger(conn)) == by_prefect

    again(waiting, conn)
    for key in BUCKETS:
        assert run_job("cycle", key).success
    assert (left(conn), drivers(conn)) == (0, ["dagster"])  # Prefect stood still: the cycle clears the queue
    by_dagster = (digests(waiting), ledger(conn))
    assert by_dagster[0] == by_prefect[0]

    again(waiting, conn)
    for key in BUCKETS:
        cycle(waiting, embedder, key)
    assert (left(conn), drivers(conn)) == (0, ["reverie"])
    assert (digests(waiting), ledger(conn)) == by_dagster


def two_of_dagster() -> None:
    """Two processes of Dagster's, one forked from the other after the imports, which take seconds."""
    import_module("assets.definitions")
    other = multiprocessing.get_context("fork").Process(target=cycles, args=(BUCKETS[::-1],))
    other.start()
    cycles(BUCKETS)
    other.join()
    assert other.exitcode == 0


def cycles(keys: tuple[str, ...]) -> None:
    """Dagster's runs of buckets, one after the other, in a process of its own as in life."""
    import dagster as dg

    from assets import runs
    from assets.definitions import defs

    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    with dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}}) as instance:
        for key in keys:
            defs.resolve_job_def("cycle").execute_in_process(
                partition_key=key, instance=instance, tags={runs.AS_OF: AS_OF.isoformat()}, run_config=quiet
            )


def test_both_at_once_with_four_workers(server: None, waiting: Store, embedder: Embedder, conn: Conn) -> None:
    from reverie.drive import drain as module

    for key in BUCKETS:
        cycle(waiting, embedder, key)
    alone = digests(waiting)
    again(waiting, conn)
    with (
        ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as processes,
        ThreadPoolExecutor(2) as threads,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(module, "BATCH", 1)
        jobs = [processes.submit(two_of_dagster)]
        while not conn.execute("select 1 from ops.runs limit 1").fetchone() and not any(job.done() for job in jobs):
            time.sleep(0.05)  # until the slower to start has begun
        jobs += [threads.submit(flow("drain_due_sessions"), as_of=AS_OF) for _ in range(2)]
        for job in jobs:
            job.result()
    assert left(conn) == 0
    assert digests(waiting) == alone
    assert set(drivers(conn)) <= {"dagster", "prefect"}
    assert conn.execute("select driver, stage, error from ops.runs where status = 'failed'").fetchall() == []


def test_artifacts_hold_ids_and_counts_and_nothing_that_was_said(server: None, waiting: Store, conn: Conn) -> None:
    flow("drain_due_sessions")(as_of=AS_OF)
    with prefect_client() as client:
        made = sorted(client.read_artifacts(), key=lambda one: one.created)
        artifacts = {one.key: one for one in made if one.key}  # the latest of each
        told = [str(one.data) for one in artifacts.values()]
        told += [log.message for log in client.read_logs(limit=200)]
        runs = client.read_flow_runs()
        told += [run.model_dump_json() for run in runs]
    assert max(runs, key=lambda run: run.created).name.startswith(f"drain at {datetime.now(UTC):%Y-%m-%d}")
    tenants = json.loads(artifacts["drained-tenants"].data)
    assert [(row["tenant"], row["sessions"], row["subjects"], row["failed"]) for row in tenants] == [
        ("acme", 12, 4, 0), ("beta", 12, 4, 0)
    ]  # fmt: skip
    stages = {row["stage"]: row for row in json.loads(artifacts["drained-stages"].data)}
    assert {"extract", "embed", "merge", "link", "drain"} <= stages.keys()
    assert artifacts["drained"].data == 100.0
    assert not [text for text in told for word in SAID if word in text.casefold()]


def prefect_client() -> Any:
    from prefect.client.orchestration import get_client

    return get_client(sync_client=True)


def test_failures_raise_with_one_sentence(server: None, waiting: Store, conn: Conn) -> None:
    from flows.drain_due_sessions import drain_queue
    from resources.failures import checked

    conn.execute("update ops.tenants set policy = 'nowhere.toml'")
    with pytest.raises(StageError, match="^All 24 sessions that were tried failed. acme: There is no policy"):
        drain_queue.with_options(retries=0)(as_of=AS_OF)
    with pytest.raises(NotFoundError, match="There is no tenant 'nobody'"):
        checked(import_module("flows.replay_session").read_again("nobody", "ana", "s1", AS_OF))


def test_a_session_is_replayed_and_dead_letters_redriven(server: None, waiting: Store, conn: Conn) -> None:
    flow("drain_due_sessions")(as_of=AS_OF)
    before = digests(waiting)
    conn.execute(
        """insert into ops.dead_letters (tenant_id, id, source, reason, detail, subject_id, session_id)
           values ('acme', gen_random_uuid(), 'queue', 'not_worked_in', '', 'ana', 's1'),
                  ('acme', gen_random_uuid(), 'queue', 'not_worked_in', '', 'ben', 's1')"""
    )
    assert flow("replay_session")("acme", "ana", "s1", as_of=AS_OF)["extract_turns"] == 3
    assert digests(waiting) == before
    assert conn.execute("select subject_id from ops.dead_letters").fetchall() == [("ben",)]
    assert flow("redrive_dead_letters")("acme")["requeued"] == 1
    assert left(conn) == 1


def test_a_history_is_imported_and_reembedded(
    server: None, store: Store, conn: Conn, tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "history.jsonl"
    record = {"subject_id": "ana", "session_id": "s1", "role": "user", "said_at": "2026-01-05T09:00:00Z"}
    path.write_text(json.dumps(record | {"text": "My email is ana@example.com."}))
    assert flow("import_history")("acme", path, as_of=AS_OF)["merge_activated"] == 1
    row = (
        "'ben' as subject_id, 's1' as session_id, 'user' as role, '2026-01-06T09:00Z' as said_at,"
        " 'My email is ben@example.com.' as text"
    )
    monkeypatch.setenv("REVERIE_SOURCE_URL", database_url)
    monkeypatch.setenv("REVERIE_SOURCE_QUERY", f"select {row}")
    assert flow("import_history")("acme", as_of=AS_OF)["merge_activated"] == 1
    assert flow("reembed_tenant")("acme", "minilm", as_of=AS_OF)["reembed_removed"] == 0
    beside = flow("rebuild_beside")("acme", as_of=AS_OF)
    assert beside["number"] == 1 and beside["memories_before"] == beside["memories_after"] > 0
    assert conn.execute("select distinct driver from ops.runs").fetchall() == [("prefect",)]
    (database,) = conn.execute("select database from ops.generations").fetchone() or ("",)
    conn.execute(f'drop database "{database}"')
    mapped = tmp_path / "mapped.csv"
    mapped.write_text("wie,s,role,said_at,zin\nx,s1,klant,2026-01-07T09:00:00Z,I love jazz.\n")
    mapping = {"text": "zin", "session_id": "s", "role:klant": "user"}
    flow("import_history")("acme", mapped, as_of=AS_OF, mapping=mapping, subject="cyd", format="csv")
    assert conn.execute("select text from log.turns where subject_id = 'cyd'").fetchall() == [("I love jazz.",)]


def test_a_session_and_a_subject_are_erased(server: None, waiting: Store, conn: Conn) -> None:
    flow("drain_due_sessions")(as_of=AS_OF)
    done = flow("erase_subject")("acme", "ana", session="s1", as_of=AS_OF)
    assert (done["turns"], done["remade"]) == (
        3,
        conn.execute("select count(*) from log.turns where subject_id = 'ana'").fetchone()[0] > 0,
    )
    flow("erase_subject")("acme", "ben", actor="privacy desk")
    assert conn.execute(
        "select count(*) from log.turns where tenant_id = 'acme' and subject_id = 'ben'"
    ).fetchall() == [(0,)]
    assert conn.execute("select kind, actor from ops.erasures order by number").fetchall() == [
        ("session", None), ("subject", "privacy desk")
    ]  # fmt: skip
    with pytest.raises(NotFoundError, match="Nothing is kept about subject 'nobody'"):
        flow("erase_subject")("acme", "nobody")


def test_a_missing_file_is_tried_once(server: None, store: Store, tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(InputError, match="There is no file"):
        flow("import_history")("acme", tmp_path / "none.jsonl", as_of=AS_OF)
    assert time.monotonic() - began < 10  # a retry would wait ten seconds


def test_what_is_served_is_what_is_deployed() -> None:
    from deployments.worker import served

    written = yaml.safe_load((ROOT / "deployments" / "prefect.yaml").read_text())["deployments"]
    assert [one.entrypoint for one in served()] == [each["entrypoint"] for each in written]
    assert sorted(each["entrypoint"].split(":")[1] for each in written) == sorted(
        path.stem for path in (ROOT / "flows").glob("*.py") if path.stem != "__init__"
    )
    texts = [each.description or "" for each in served()]
    assert all(texts) and not any("\n" in part for text in texts for part in text.split("\n\n"))
    first, deliver = served()[:2]
    assert written[0]["schedules"] == written[1]["schedules"] == [{"interval": 60}]
    assert [each.schedule.interval for each in deliver.schedules] == [timedelta(seconds=60)]
    assert not first.schedules, "the worker starts drains itself"
    assert first.concurrency_options.collision_strategy.value == written[0]["concurrency_limit"]["collision_strategy"]
    assert (first.concurrency_limit, written[0]["concurrency_limit"]["limit"]) == (1, 1)


def test_a_drain_is_asked_for_when_something_is_due(waiting: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from deployments import worker

    asked: list[int] = []
    ended = threading.Event()
    over = iter([True, False, True])

    def ask() -> UUID:
        asked.append(1)
        if len(asked) == 2:
            ended.set()
        return UUID(int=len(asked))

    monkeypatch.setattr(worker, "EVERY", timedelta(milliseconds=1))
    monkeypatch.setattr(worker, "start_drain", ask)
    monkeypatch.setattr(worker, "is_finished", lambda flow_run: next(over))
    worker.watch(waiting, ended)
    assert list(over) == []
    assert not worker.is_due(waiting, datetime(2026, 1, 1, tzinfo=UTC))


def test_a_drain_whose_flow_run_was_deleted_has_finished(server: None) -> None:
    from deployments import worker

    assert worker.is_finished(UUID(int=7))


def test_what_writes_is_never_cached_and_parameters_are_ids() -> None:
    from prefect import Task
    from prefect.cache_policies import NO_CACHE

    plain = {"string", "integer", "boolean", "null"}
    for path in (path for path in (ROOT / "flows").glob("*.py") if path.stem != "__init__"):
        module = import_module(f"flows.{path.stem}")
        tasks = [each for each in vars(module).values() if isinstance(each, Task)]
        assert tasks
        assert all(each.cache_policy == NO_CACHE and each.retries for each in tasks), path
        for name, given in getattr(module, path.stem).parameters.properties.items():
            kinds = {one.get("type") for one in given.get("anyOf", [given])}
            # names of fields, as in `--map`
            assert kinds <= plain | ({"object"} if name == "mapping" else set()), f"{path.stem}: {name}"
