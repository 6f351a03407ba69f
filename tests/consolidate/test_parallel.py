"""Buckets worked at once: all that is yielded arrives, the first error ends everything, memory is the same."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier, current_thread

import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.drive.parallel import buckets, in_parallel
from reverie.errors import StageError
from reverie.model import SHARDS, Scope
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.runs import Report
from reverie.store.work import Work
from tests.promises.world import SAMPLE, WordEmbedder, for_tenant

#: Half of the sample has happened, and of each of its subjects.
END = datetime(2026, 4, 1, 1, 30, tzinfo=UTC)


def test_buckets_are_the_whole_and_a_limited_scope_stays_whole() -> None:
    parts = buckets(Scope(tenant_id="t"), 3)
    assert [part.shard_from for part in parts] == [0, *(part.shard_to for part in parts[:-1])]
    assert parts[-1].shard_to == SHARDS
    limited = Scope(tenant_id="t", subjects=("ann",))
    assert buckets(limited, 3) == [limited]


def test_they_run_at_once_and_everything_arrives() -> None:
    together = Barrier(3, timeout=10)

    def work(scope: Scope) -> Iterator[tuple[int, str]]:
        together.wait()  # nobody gets past it alone
        for _ in range(50):
            yield scope.shard_from, current_thread().name

    seen = list(in_parallel(buckets(Scope(tenant_id="t"), 3), work))
    assert len(seen) == 150
    assert len(set(seen)) == 3


def test_the_first_error_ends_all_and_is_raised() -> None:
    begun = []

    def work(scope: Scope) -> Iterator[int]:
        for number in range(100_000):
            begun.append(number)
            if scope.shard_from and number == 5:
                raise StageError("no more")
            yield number

    with pytest.raises(StageError, match="no more"):
        list(in_parallel(buckets(Scope(tenant_id="t"), 2), work))
    assert len(begun) < 200_000


def test_two_at_once_make_the_memory_of_one(store: Store, other_store: Store, tmp_path: Path) -> None:
    policy, embedder = load_policy("reverie"), WordEmbedder()
    history = for_tenant(SAMPLE, "demo", tmp_path / "history.jsonl", until=END)
    for each, jobs in ((store, 1), (other_store, 4)):
        assert import_file(each, history, tenant_id="demo", now=END).subjects == 3

        def work(scope: Scope, store: Store = each) -> Iterator[Report]:
            yield from ingest(Work(store=store, scope=scope, policy=policy, as_of=END, embedder=embedder))
            yield from catch_up(Work(store=store, scope=scope, policy=policy, as_of=END, embedder=embedder))

        stages = {report.stage for report in in_parallel(buckets(Scope(tenant_id="demo"), jobs), work)}
        assert {"extract", "embed", "merge", "compress", "score"} <= stages
    one, many = digest(store, "demo").tables, digest(other_store, "demo").tables
    assert [name for name in one if one[name] != many[name]] == []
