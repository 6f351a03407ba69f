"""A switch that stages come between is done again, and at last they wait for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event, Thread, Timer
from typing import Any

import psycopg
import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.erase import erasing
from reverie.drive.erase.targets import subject_target
from reverie.errors import ConflictError, InputError, SettingsError
from reverie.generations import publishing
from reverie.generations.building import begin, build
from reverie.generations.catalog import GenerationPlan, LiveMemory, add_generation, drop_generation, find_generation
from reverie.generations.publishing import Publisher, publish
from reverie.inference.tokens import token_counter
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from reverie.testing import WordEmbedder
from tests.generations.conftest import plan
from tests.promises.compact import TENANT, UNTIL
from tests.promises.world import consolidate
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
        writes = iter(
            [
                "update ops.runs set finished_at = clock_timestamp() where stage = 'score'",
                "insert into ops.late_subjects (tenant_id, subject_id, happened_at) values ('acme', 'ana', now())",
                "select",
            ]
        )
        stage = publishing.stage_difference

        def stage_and_write(*given: Any) -> Any:
            staged = stage(*given)
            conn.execute(next(writes, "update ops.runs set finished_at = clock_timestamp() where stage = 'score'"))
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


def test_an_erasure_just_before_the_switch_ends_it(
    database_url: str, conn: psycopg.Connection[Any], history: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows of a subject are staged, and publish waits for the lock of the erasure that deletes them."""
    policy, embedder = load_policy("reverie"), WordEmbedder()
    plan = GenerationPlan(policy_name="brain", policy=load_policy("brain"), embedder_name="w", embedder=embedder)
    reached, go = Event(), Event()
    stage, drop = publishing.stage_difference, erasing.drop_copies

    def drop_later(*given: Any) -> None:
        reached.set()
        assert go.wait(60)
        drop(*given)

    with Store.open(database_url, size=4) as store:
        make_live(store, TENANT, policy, history, UNTIL)
        work = Work(store=store, scope=Scope(tenant_id=TENANT), policy=policy, as_of=UNTIL, embedder=embedder)
        live, counting = LiveMemory(work=work, url=database_url), token_counter(None, None).count
        for _ in build(live, plan, begin(live, plan)):
            pass
        eraser = erasing.Eraser(store=store, tenant_id=TENANT, policy=policy, count_tokens=counting, at=UNTIL)
        erasure = Thread(target=eraser.erase, args=(subject_target("ana"),))

        def stage_and_erase(*given: Any) -> Any:
            staged = stage(*given)
            erasure.start()
            assert reached.wait(60)
            Timer(0.5, go.set).start()
            return staged

        monkeypatch.setattr(erasing, "drop_copies", drop_later)
        monkeypatch.setattr(publishing, "stage_difference", stage_and_erase)
        publisher = Publisher(clock=lambda: UNTIL, embedder_of=lambda _: embedder, gated=False)
        with pytest.raises(ConflictError, match="Generation 1 was dropped meanwhile"):
            publish(live, find_generation(store, TENANT, 1, "ready"), publisher)
        erasure.join()
        held = "select count(*) from memory.memories where subject_id = %s"
        assert conn.execute(held, ["ana"]).fetchone() == (0,) != conn.execute(held, ["ben"]).fetchone()
        assert conn.execute("select policy from ops.tenants").fetchone() == ("reverie",)
        assert find_generation(store, TENANT, 1, "dropped").published_at is None


def test_a_publication_is_completed_only_if_it_is_the_latest(live: LiveMemory, conn: psycopg.Connection[Any]) -> None:
    for _ in range(2):
        add_generation(live, plan())
    conn.execute("update ops.generations set state = 'published', published_at = now() - interval '1 day' / number")
    conn.execute("update ops.generations set state = 'reverted' where number = 2")
    publisher = Publisher(clock=lambda: UNTIL, embedder_of=lambda _: WordEmbedder())
    with pytest.raises(InputError, match="1 was published, and generation 2 was published or reverted since"):
        publish(live, find_generation(live.work.store, "acme", 1, "published"), publisher)


def test_a_revert_restores_the_memory_of_another_embedding_model(
    database_url: str, conn: psycopg.Connection[Any], history: Path, tmp_path: Path
) -> None:
    policy, old, new = load_policy("reverie"), WordEmbedder(), WordEmbedder("others")
    plan = GenerationPlan(policy_name="reverie", policy=policy, embedder_name="others", embedder=new)
    models = "select distinct model from memory.vectors union select model from ops.tenants"
    lacking = """select count(*) from memory.memories m where m.state <> 'merged' and not exists (
                     select from memory.vectors v where v.tenant_id = m.tenant_id and v.item_id = m.id)"""
    (first := tmp_path / "first.jsonl").write_text("\n".join(history.read_text().splitlines()[:20]))
    with Store.open(database_url, size=4) as store:
        make_live(store, TENANT, policy, first, UNTIL)
        work = Work(store=store, scope=Scope(tenant_id=TENANT), policy=policy, as_of=UNTIL, embedder=old)
        live = LiveMemory(work=work, url=database_url)
        publisher = Publisher(clock=lambda: UNTIL, embedder_of=lambda _: new)
        for _ in build(live, plan, begin(live, plan)):
            pass
        publish(live, find_generation(store, TENANT, 1, "ready"), publisher)
        assert conn.execute(models).fetchall() == [("others",)]
        import_file(store, history, tenant_id=TENANT, now=UNTIL)
        consolidate(store, TENANT, policy, UNTIL, new)
        published = digest(store, TENANT)

        generation = find_generation(store, TENANT, 1, "published")
        with pytest.raises(SettingsError, match="is embedded by words, and this process has others"):
            publishing.revert(replace(live, work=replace(work, embedder=new)), generation, publisher)
        publishing.revert(live, generation, publisher)
        assert conn.execute(models).fetchall() == [("words",)]
        assert conn.execute(lacking).fetchone() == (0,)
        publish(live, find_generation(store, TENANT, 1, "reverted"), publisher)
        assert digest(store, TENANT) == published
        drop_generation(live, generation)
