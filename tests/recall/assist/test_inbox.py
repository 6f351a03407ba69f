"""An inbox in the order in which its items matter, with the reasons for each."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from reverie.inference import Embedder
from reverie.policy import load_policy
from reverie.recall.assist.inbox import InboxItem, RankedInbox, rank_inbox, ranked_items
from reverie.store.database import Store
from reverie.store.session import perform
from tests.recall.assist.conftest import NOW
from tests.recall.conftest import Corpus, FixedEmbedder, day

ITEMS = [
    InboxItem(id="parking", text="Your receipt for two hours of parking", sender="Cityparking", received_at=NOW),
    InboxItem(id="school", text="Mila was out of breath in gym class", sender="Birkeskolen"),
    InboxItem(id="fashion", text="Our newsletter about the fashion of the spring", sender="Trend Box"),
]


def rank(store: Store, embedder: Embedder | None, **given: Any) -> RankedInbox:
    return perform(
        rank_inbox(
            store.session("acme"), policy=load_policy("reverie"), embedder=embedder,
            **({"subject_id": "nora", "items": ITEMS, "as_of": NOW} | given),
        )
    )  # fmt: skip


def test_what_matters_comes_first_and_what_is_disliked_last(nora: Store, embedder: Embedder) -> None:
    found = rank(nora, embedder).items
    assert [each.id for each in found] == ["school", "parking", "fashion"]
    kinds = {reason.kind: reason for reason in found[0].why}
    assert "Mila" in kinds["near"].content and kinds["near"].turn_id
    assert found[-1].why[0].kind == "disliked" and found[-1].score < 0


def test_guidance_counts(nora: Store, embedder: Embedder) -> None:
    found = rank(nora, embedder, guidance=["Receipts for parking come first"]).items
    assert (found[0].id, found[0].why[0].kind) == ("parking", "guidance")


def test_without_a_model_names_decide(nora: Store) -> None:
    found = rank(nora, None)
    assert found.items[0].id == "school" and {reason.kind for reason in found.items[0].why} == {"named"}
    assert "No embedding model" in found.notes[0]


def test_an_unknown_subject_has_its_inbox_by_time(nora: Store, embedder: Embedder) -> None:
    found = rank(nora, embedder, subject_id="nobody")
    assert [each.id for each in found.items] == ["parking", "school", "fashion"]
    assert found.notes == ["Nothing is remembered about nobody."]


def test_of_equal_items_the_latest_comes_first() -> None:
    items = [InboxItem(id=str(day), text="x", received_at=NOW + timedelta(days=day)) for day in (1, 3, 2)]
    assert [each.id for each in ranked_items(items, {})] == ["3", "2", "1"]


def test_an_inbox_of_the_past_counts_what_held_then(corpus: Corpus, worker: Store) -> None:
    link = "insert into memory.links values ('acme', %s, %s, 'ann', %s)"
    held, over = (corpus.memory(f"Number {place}", state="superseded") for place in (1, 2))
    ended = corpus.memory("Number 3", expires_at=day(5))
    corpus.conn.execute(
        "insert into memory.entities (tenant_id, id, subject_id, type, slug, label, terms, first_seen_at)"
        " values ('acme', %s, 'ann', 'person', 'mila', 'Mila', '{mila}', %s)", [held, day(0)],
    )  # fmt: skip
    for memory, until in ((held, day(20)), (over, day(5)), (ended, None)):
        corpus.conn.execute("update memory.memories set valid_to = %s where id = %s", [until, memory])
        corpus.conn.execute(link, [memory, held, UUID(int=0)])
    found = rank(worker, FixedEmbedder(), subject_id="ann", as_of=day(10)).items
    (school,) = [each for each in found if each.id == "school"]
    assert {(reason.kind, *reason.memory_ids) for reason in school.why} == {("near", held), ("named", held)}
