"""Hits with what is around them: the question that a short reply answers, neighbours, what was cut and told."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import numpy as np

from reverie.policy import load_policy
from reverie.recall.filters import Filters
from reverie.recall.recall import recall
from reverie.store.database import Store
from reverie.store.session import perform
from tests.asking import asking
from tests.recall.conftest import LATER, Corpus, FixedEmbedder, day, policy_with


def ask(store: Store, question: str = "quartz", **given: Any) -> Any:
    common = {"subject_id": "ann", "policy": policy_with(), "as_of": LATER, "embedder": FixedEmbedder()}
    query, others = asking(question, **(common | given))
    return perform(recall(store.session("acme"), query, **others))


def test_a_short_reply_carries_the_question(corpus: Corpus, reader: Store) -> None:
    asked = corpus.turn("Do you collect quartz?", speaker="Bob", role="assistant")
    yes = corpus.turn("Yes, two boxes", speaker="Ann", asked_by=asked)
    own = corpus.turn("And what else?", speaker="Ann")
    reply = corpus.turn("And quartz", speaker="Ann", asked_by=own)
    hits = {hit.id: hit for hit in ask(reader).hits}
    assert hits[yes].reply_to.id == asked
    assert hits[yes].told == "Bob: Do you collect quartz? / Ann: Yes, two boxes"
    assert hits[yes].tokens == len(hits[yes].told.split())
    assert hits[reply].reply_to is None, "nobody answers themselves"


def test_an_offer_of_help_is_not_what_a_reply_answers(corpus: Corpus, reader: Store) -> None:
    asked = corpus.turn("Lovely! Anything else I can help you with?", speaker="Bob", role="assistant")
    moved = corpus.turn("My quartz is in Oslo", speaker="Ann", asked_by=asked)
    assert {hit.id: hit for hit in ask(reader).hits}[moved].reply_to is None


def test_a_long_reply_stands_alone(corpus: Corpus, reader: Store) -> None:
    asked = corpus.turn("Do you collect quartz?", speaker="Bob")
    long = corpus.turn("Yes " * 21, speaker="Ann", asked_by=asked)
    assert {hit.id: hit for hit in ask(reader).hits}[long].reply_to is None


def test_a_question_that_a_person_took_back_is_not_carried(corpus: Corpus, reader: Store) -> None:
    asked = corpus.turn("Do you collect quartz?", speaker="Bob")
    yes = corpus.turn("Yes, two boxes", speaker="Ann", asked_by=asked)
    corpus.conn.execute(
        "insert into memory.marks (tenant_id, subject_id, item_id, item, mark, correction_id, pending)"
        " values ('acme', 'ann', %s, 'turn', 'forgotten', %s, false)", [asked, asked],
    )  # fmt: skip
    assert {hit.id: hit for hit in ask(reader).hits}[yes].reply_to is None


def test_neighbours_come_on_request(corpus: Corpus, reader: Store) -> None:
    ids = [corpus.turn(text, at=day(n), session="s1") for n, text in enumerate(["a", "b", "quartz", "d", "e", "f"])]
    corpus.turn("other", at=day(2.5), session="s2")
    assert all(hit.before == hit.after == () for hit in ask(reader).hits)
    middle = next(hit for hit in ask(reader, neighbours=2).hits if hit.id == ids[2])
    assert [one.id for one in middle.before] == ids[:2]
    assert [one.id for one in middle.after] == ids[3:5]
    early = next(hit for hit in ask(reader, neighbours=2, as_of=day(3)).hits if hit.id == ids[2])
    assert [one.id for one in early.after] == ids[3:4], "what was said later is not known yet"


def test_neighbours_pass_the_filters_too(corpus: Corpus, reader: Store) -> None:
    ids = [corpus.turn(text, at=day(n), session="s1") for n, text in enumerate(["a", "quartz", "c", "d"])]
    of = '{"connection_id": "mail-1"}'
    corpus.conn.execute("update log.turns set metadata = %s where id = any(%s)", [of, [ids[0], ids[2]]])
    found = ask(reader, neighbours=1, filters=Filters(connections=["desk"])).hits
    (hit,) = (one for one in found if one.id == ids[1])
    assert ([one.id for one in hit.before], [one.id for one in hit.after]) == ([], [ids[3]])


def test_what_ranks_too_low_is_counted(corpus: Corpus, reader: Store) -> None:
    for number in range(40):
        corpus.memory(f"Quartz of box {number}")
    result = ask(reader, policy=policy_with(ranked=12), top_k=4)
    assert len(result.hits) == 4
    assert len(result.hits) + len(result.dropped) + result.unranked == 40


def test_what_is_too_far_is_told(corpus: Corpus, reader: Store) -> None:
    near = corpus.memory("Found quartz")
    far = corpus.memory("Likes the river", vectors=[np.eye(8)[1]])
    result = ask(reader, policy=load_policy("chat"))
    assert [hit.id for hit in result.hits] == [near]
    assert [(drop.id, drop.reason) for drop in result.dropped] == [(far, "similarity")]


def test_of_a_statement_that_ended_in_part_the_rest_still_holds(corpus: Corpus, reader: Store) -> None:
    turn = corpus.turn("We live in Graz, and I work at the bakery", at=day(1))
    whole = corpus.memory("We live in Graz, and I work at the bakery", at=day(1), turn=turn)
    rest = corpus.memory("We live in Graz", at=day(1), turn=turn)
    corpus.conn.execute(
        "update memory.memories set state = 'superseded', valid_to = %s, superseded_by = id where id = %s",
        [day(3), whole],
    )
    corpus.conn.execute("update memory.memories set origin = 'rest' where id = %s", [rest])
    for memory in (whole, rest):
        corpus.conn.execute(
            "insert into memory.lineage (tenant_id, memory_id, relation, source, source_id, as_of, run_id)"
            " values ('acme', %s, 'extracted', 'turn', %s, %s, %s)", [memory, turn, day(1), UUID(int=0)],
        )  # fmt: skip
    hit = {hit.id: hit for hit in ask(reader, "bakery").hits}[turn]
    assert hit.content.endswith("[no longer: and I work at the bakery, until 2026-03-04]")
