"""Each stage at its busiest run on the sample history, as a database to clone, and deaths at its n-th statement.

A moment lies before or after a statement, a COPY or a commit. A process dies by SIGKILL; a backend is terminated from
another connection, and the process lives on.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.capture.history.importing import import_file
from reverie.consolidate.stages import BY_NAME
from reverie.drive import cycle
from reverie.model import stable_id
from reverie.policy import Policy
from reverie.store.connect import connect, open_pool
from reverie.store.database import Store
from reverie.store.digest import TableDigest, digest_of
from reverie.store.work import Work
from reverie.testing import DatabaseFactory, database_name
from tests.promises.killing import Moments
from tests.promises.world import SAMPLE, WordEmbedder, for_tenant, lively, scope

TENANT = "demo"
STAGES = tuple(BY_NAME)
#: Two months of the sample history: every stage has been busy.
UNTIL = datetime(2026, 3, 6, 1, 30, tzinfo=UTC)

Conn = psycopg.Connection[Any]


def policy() -> Policy:
    """One cycle a day, the longest that there is: the busiest runs are busy, and the others few."""
    return lively("reverie", cycle={"hours": 24}, merge={"threshold": 0.6})


@dataclass(frozen=True)
class StageRun:
    """A stage as the pipeline calls it; can be pickled."""

    stage: str
    #: Of the run, without its store.
    given: Work
    #: Arguments beside the work.
    arguments: dict[str, Any]

    def work(self, store: Store) -> None:
        """Run it."""
        getattr(import_module(f"reverie.consolidate.{self.stage}.stage"), self.stage)(
            replace(self.given, store=store), **self.arguments
        )


@dataclass
class Snapshot:
    """A database before a stage's busiest run, and what that run comes to."""

    run: StageRun
    url: str
    digest: dict[str, TableDigest] = field(default_factory=dict)
    #: Kind of each moment.
    moments: list[str] = field(default_factory=list)


def prepare(store: Store, conn: Conn, history: Path) -> None:
    """The sample history, an observation for each profile, and recalls and corrections of what will be remembered."""
    import_file(store, for_tenant(SAMPLE, TENANT, history, until=UNTIL), tenant_id=TENANT, now=UNTIL)
    for (subject,) in conn.execute("select distinct subject_id from log.turns order by 1").fetchall():
        at = UNTIL - timedelta(days=30)
        conn.execute(
            """insert into log.events (tenant_id, id, subject_id, source_id, type, channel, key, content, observed_at,
                                       content_hash)
               values (%s, %s, %s, 'e', 'scaffold_update', 'interactive', 'Role', 'Engineer', %s, '\\x00')""",
            [TENANT, stable_id(at, subject), subject, at],
        )


def notice(conn: Conn) -> None:
    """Recalls and corrections of candidates."""
    for number, (id_, subject, at) in enumerate(
        conn.execute(
            "select id, subject_id, happened_at from memory.memories where kind <> 'episode' order by id limit 12"
        ).fetchall()
    ):
        when = at + timedelta(days=16)
        if number % 2:
            conn.execute(
                """insert into log.recalls (tenant_id, id, subject_id, asked_at, question, policy_hash, item_ids,
                                            dropped)
                   values (%s, %s, %s, %s, 'What?', 'p', %s, 0)""",
                [TENANT, stable_id(when, "recall", str(id_)), subject, when, [id_]],
            )
        else:
            conn.execute(
                """insert into log.corrections (tenant_id, id, subject_id, kind, memory_id, corrected_at)
                   values (%s, %s, %s, 'wrong', %s, %s)""",
                [TENANT, stable_id(when, "correction", str(id_)), subject, id_, when],
            )


def remember(store: Store, conn: Callable[[], Conn]) -> None:
    """The whole pipeline; between reading and the first cycle people recall and correct."""
    common: dict[str, Any] = {"scope": scope(TENANT), "policy": policy(), "embedder": WordEmbedder()}
    deque(cycle.ingest(Work(store=store, as_of=UNTIL, **common)), 0)
    with conn() as admin:
        notice(admin)
    deque(cycle.catch_up(Work(store=store, as_of=UNTIL, **common)), 0)


@contextmanager
def watching(told: Callable[[Store, StageRun], Iterator[None]]) -> Iterator[None]:
    """Let `told` surround each run of a stage that the pipeline makes."""
    with pytest.MonkeyPatch.context() as patch:
        for stage in STAGES:
            original = getattr(cycle, stage)

            def surrounded(work: Work, stage: str = stage, original: Any = original, **arguments: Any) -> Any:
                with contextmanager(told)(work.store, StageRun(stage, without_ties(work), arguments)):
                    return original(work, **arguments)

            patch.setattr(cycle, stage, surrounded)
        yield


def without_ties(work: Work) -> Work:
    """Work that can go to another process: without store and progress."""
    kept = {each.name: getattr(work, each.name) for each in fields(work) if each.name not in ("store", "progress")}
    return Work(store=None, **kept)  # type: ignore[arg-type]


def busiest(server_url: str, prefix: str, template: str, history: Path, opened: ExitStack) -> dict[str, Snapshot]:
    """The snapshots by stage, dropped with `opened`; `history` is a file to write."""

    def new(of: str) -> str:
        return opened.enter_context(DatabaseFactory(server_url, prefix=prefix).copy(of))

    sizes: Counter[tuple[str, int]] = Counter()
    numbers: Counter[str] = Counter()
    moments = Moments()

    def count(store: Store, run: StageRun) -> Iterator[None]:
        numbers[run.stage] += 1
        before = len(moments.kinds)
        yield
        sizes[run.stage, numbers[run.stage]] = len(moments.kinds) - before

    first = new(template)
    with Store.open(first, size=1) as store, connect(first) as conn:
        prepare(store, conn, history)
    second = new(database_name(first))
    with Store.open(first, size=1) as store, moments.watched(), watching(count):
        remember(store, lambda: connect(first))
    chosen = {
        stage: max((size, -number) for (name, number), size in sizes.items() if name == stage) for stage in STAGES
    }
    found: dict[str, Snapshot] = {}
    numbers.clear()

    def keep(store: Store, run: StageRun) -> Iterator[None]:
        numbers[run.stage] += 1
        if numbers[run.stage] == -chosen[run.stage][1]:
            store._pool.close()  # a database that is cloned has no other session
            found[run.stage] = Snapshot(run, new(database_name(second)))
            store._pool = open_pool(second, role="worker", size=1)
        yield

    with Store.open(second, size=1) as store, watching(keep):
        remember(store, lambda: connect(second))
    for snapshot in found.values():
        moments = Moments()
        with cloned(server_url, snapshot) as url, connect(url) as conn:
            with Store.open(url, size=1) as store, moments.watched():
                snapshot.run.work(store)
            snapshot.digest, snapshot.moments = digest_of(conn, TENANT).tables, moments.kinds
            assert snapshot.digest != before_of(server_url, snapshot) or snapshot.run.stage == "prune", snapshot.run
    return found


def before_of(server_url: str, snapshot: Snapshot) -> dict[str, TableDigest]:
    """The digest before the run."""
    with cloned(server_url, snapshot) as url, connect(url) as conn:
        return digest_of(conn, TENANT).tables


@contextmanager
def cloned(server_url: str, snapshot: Snapshot) -> Iterator[str]:
    """A database of its own in the snapshot's state."""
    name = database_name(snapshot.url)
    with DatabaseFactory(server_url, prefix=name.rpartition("_")[0]).copy(name) as url:
        yield url


def work(url: str, run: StageRun, kill_at: int | None = None) -> None:
    """Run the stage, in a process of its own, and die at a moment."""
    with Store.open(url, size=1) as store, Moments(kill_at=kill_at).watched():
        run.work(store)


@dataclass
class Severed(Moments):
    """Ends the backend of the connection in use at a moment."""

    server_url: str = ""
    database: str = ""

    def die(self) -> None:
        with connect(self.server_url) as admin:
            admin.execute(
                """select pg_terminate_backend(pid, 5000) from pg_stat_activity
                   where datname = %s and backend_type = 'client backend'""",
                [self.database],
            )
