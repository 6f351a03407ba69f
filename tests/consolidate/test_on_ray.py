"""Buckets on a real Ray of this machine: memory is the same as without, progress and errors arrive."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from pydantic import SecretStr

from reverie.capture.history.importing import import_file
from reverie.drive.advance import advance
from reverie.drive.on_ray import RayCluster, connected, on_ray
from reverie.drive.parallel import buckets
from reverie.errors import DatabaseError, SettingsError
from reverie.inference.loading import load_embedder
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.runtime import open_bucket_work
from reverie.settings import Settings
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from tests.promises.world import SAMPLE, for_tenant

#: A month of the sample has happened, and of each of its subjects.
END = datetime(2026, 2, 6, 1, 30, tzinfo=UTC)
ALL = Scope(tenant_id="demo")
TWO = RayCluster(workers=2)

#: Ray's own: it leaves the pipes and sockets of its processes to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
]


def test_two_workers_make_the_memory_of_one_process(
    store: Store, other_store: Store, database_url: str, tmp_path: Path
) -> None:
    policy, history = load_policy("reverie"), for_tenant(SAMPLE, "demo", tmp_path / "history.jsonl", until=END)
    for each in (store, other_store):
        assert import_file(each, history, tenant_id="demo", now=END).subjects == 3
    alone = Work(store=other_store, scope=ALL, policy=policy, as_of=END, embedder=load_embedder("minilm"))
    expected = list(advance(alone))

    settings = Settings(database_url=SecretStr(database_url), threads=1)  # type: ignore[call-arg]
    steps: dict[str, int] = {}

    def count(stage: str, number: int) -> None:
        steps[stage] = steps.get(stage, 0) + number

    unreachable = settings.model_copy(update={"database_url": SecretStr("postgresql://127.0.0.1:1/none")})
    with connected(TWO):
        reports = list(on_ray(buckets(ALL, 3), partial(open_bucket_work, settings, policy, END, advance), TWO, count))
        with pytest.raises(DatabaseError, match=r"^No Postgres answers at 127.0.0.1:1.$"):
            list(on_ray([ALL], partial(open_bucket_work, unreachable, policy, END, advance), TWO, count))
    turns = sum(report["turns"] for report in expected if report.stage == "extract")
    assert turns == sum(report["turns"] for report in reports if report.stage == "extract") == steps["extract"] > 0
    one, many = digest(other_store, "demo").tables, digest(store, "demo").tables
    assert [name for name in one if one[name] != many[name]] == []


def test_a_cluster_that_is_not_there_is_named() -> None:
    nowhere = RayCluster(address="127.0.0.1:1")
    with pytest.raises(SettingsError, match="No Ray cluster answers at 127.0.0.1:1"):
        list(on_ray([ALL], dict, nowhere, lambda *_: None))  # type: ignore[arg-type]
