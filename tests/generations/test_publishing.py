"""A switch that stages come between is done again, and at last they wait for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.generations import publishing
from reverie.generations.building import begin, build
from reverie.generations.catalog import GenerationPlan, LiveMemory, drop_generation, find_generation
from reverie.generations.publishing import Publisher, publish
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from reverie.testing import WordEmbedder
from tests.promises.compact import TENANT, UNTIL
from tests.promises.world import live as make_live


def test_a_stage_in_between_has_it_done_again_and_at_last_waits(
    database_url: str, conn: psycopg.Connection[Any], history: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, embedder = load_policy("reverie"), WordEmbedder()
    plan = GenerationPlan(policy_name="brain", policy=load_policy("brain"), embedder_name="w", embedder=embedder)
    with Store.open(database_url, size=4) as store:
        make_live(store, TENANT, policy, history, UNTIL)
        work = Work(store=store, scope=Scope(tenant_id=TENANT), policy=policy, as_of=UNTIL, embedder=embedder)
        live, before = LiveMemory(work=work, url=database_url), digest(store, TENANT)
        generation = begin(live, plan)
        for _ in build(live, plan, generation):
            pass
        writes = iter([True, True, False])
        stage = publishing.stage_difference

        def stage_and_write(*given: Any) -> Any:
            staged = stage(*given)
            if next(writes, True):
                conn.execute("update ops.runs set finished_at = clock_timestamp() where stage = 'score'")
            return staged

        monkeypatch.setattr(publishing, "stage_difference", stage_and_write)
        publisher = Publisher(clock=lambda: UNTIL, embedder_of=lambda _: embedder, gated=False)
        done = publish(live, find_generation(store, TENANT, 1, "ready"), publisher)
        assert done.attempts == 3 and done.rows > 0
        assert digest(store, TENANT).sha256 == find_generation(store, TENANT, 1, "published").sha256
        assert conn.execute("select policy from ops.tenants").fetchone() == ("brain",)

        again = publishing.revert(live, find_generation(store, TENANT, 1, "published"), publisher)
        assert again.attempts == 4, "stages wrote all the while, so the last attempt kept them waiting"
        assert digest(store, TENANT) == before
        drop_generation(live, generation)
