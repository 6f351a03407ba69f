"""Link: entities once each, and the memories that speak of them, also in other words."""

from pathlib import Path

from reverie.consolidate.link.stage import link
from reverie.model import Scope
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from tests.consolidate.test_score import POLICY, day, tell
from tests.promises.world import lively


def links(store: Store) -> set[tuple[str, str]]:
    with store.transaction("t") as conn:
        return set(
            conn.execute(
                """select e.type || ':' || e.slug, m.content from memory.links l
                   join memory.entities e on e.id = l.entity_id join memory.memories m on m.id = l.memory_id"""
            ).fetchall()
        )


def test_what_the_rules_saw_becomes_an_entity_and_what_names_it_is_linked(store: Store, tmp_path: Path) -> None:
    tell(
        store,
        tmp_path / "a.jsonl",
        (0, "I have a dog named Bruno."),
        (5, "I took Bruno to the vet yesterday."),
        (6, "I went to the cinema yesterday."),
    )
    linked = links(store)
    bruno = {content for entity, content in linked if entity == "pet:bruno"}
    assert any("vet" in content for content in bruno)
    assert not any("cinema" in content for content in bruno)
    with store.transaction("t") as conn:
        entity = conn.execute("select label, first_seen_at from memory.entities where type = 'pet'").fetchall()
        assert entity == [("Bruno", day(0))]
        assert conn.execute("select count(*) from memory.memories where not linked").fetchone() == (0,)
        reports = conn.execute("select report from ops.runs where stage = 'link'").fetchall()
    assert reports[0][0]["links"] == len(linked)
    before = digest(store, "t")
    again = link(Work(store=store, scope=Scope(tenant_id="t"), policy=POLICY, as_of=day(400)))
    assert not any(again.counts.values())
    assert digest(store, "t") == before


def test_a_dry_run_counts_and_writes_nothing(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", (0, "I have a dog named Bruno."))
    with store.transaction("t") as conn:
        conn.execute("update memory.memories set linked = false")
        conn.execute("delete from memory.entities")
        conn.execute("delete from memory.links")
    before = digest(store, "t")
    scope = Scope(tenant_id="t")
    dry = link(Work(store=store, scope=scope, policy=POLICY, as_of=day(400), dry_run=True))
    assert digest(store, "t") == before
    assert dry.counts == link(Work(store=store, scope=scope, policy=POLICY, as_of=day(400))).counts
    assert dry["entities"] >= 1


def test_what_a_turn_names_is_an_entity_though_it_gives_no_memory(store: Store, tmp_path: Path) -> None:
    """Brain 4.3 reads the conversation for entities; what is remembered later is linked to them."""
    tell(
        store,
        tmp_path / "a.jsonl",
        (0, "My Diwali Sweet Recipes post got 340 views."),
        (1, "My dog Rex had his vet appointment."),
        (2, "I like walks with Rex."),
        (3, "I don't want posts longer than 800 words."),
        (4, "I don't like traffic in the city."),
        policy=lively("brain"),
    )
    with store.transaction("t") as conn:
        seen = dict(conn.execute("select type || ':' || slug, first_seen_at from memory.entities").fetchall())
    assert seen.keys() >= {"content:diwali-sweet-recipes", "metric:views", "pet:rex", "content:posts"}
    assert "metric:visits" not in seen
    assert seen["pet:rex"] == day(1)
    linked = links(store)
    assert ("pet:rex", "Likes walks with Rex") in linked
    assert {content for entity, content in linked if entity == "content:posts"}
