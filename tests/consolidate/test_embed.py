"""Embed: vectors, terms and items for turns and memories, each text once."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from psycopg.sql import SQL, Identifier

from reverie.consolidate.embed import read
from reverie.consolidate.embed.decide import text_parts
from reverie.consolidate.embed.stage import embed
from reverie.consolidate.extract.stage import extract
from reverie.errors import SettingsError
from reverie.inference import Vectors
from reverie.inference.embedder import lost_texts
from reverie.llm.spending import set_credit
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from tests.consolidate.test_extract import POLICY, words
from tests.consolidate.test_extract import run as run_extract
from tests.promises.world import WordEmbedder, lively

LATE = datetime(2026, 9, 1, tzinfo=UTC)


class Counting(WordEmbedder):
    """Knows what it was asked for."""

    price_per_token = 0.01

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return super().encode(texts)


def run(store: Store, embedder: WordEmbedder, policy: Policy = POLICY, **options: Any):
    return embed(Work(store=store, scope=Scope(tenant_id="t"), policy=policy, as_of=LATE, embedder=embedder, **options))


def rows(store: Store, query: str) -> list[tuple[Any, ...]]:
    with store.transaction("t") as conn:
        return conn.execute(query).fetchall()  # type: ignore[call-overload]


def counts(store: Store, *queries: str) -> list[int]:
    with store.transaction("t") as conn:
        return [conn.execute(query).fetchone()[0] for query in queries]  # type: ignore[call-overload,index]


def test_texts_of_a_subject_without_credit_wait(told: Store) -> None:
    """Agent 2.2, by user: the others are embedded and booked, and its own follow once there is credit again."""
    limited, *_ = subjects = [row[0] for row in rows(told, "select distinct subject_id from log.turns order by 1")]
    set_credit(told, "t", 0.0, subject_id=limited)
    set_credit(told, "t", 1e6, subject_id=subjects[1])
    report = run(told, Counting())
    without = (
        "select distinct subject_id from log.turns t"
        " where not exists (select from memory.items i where i.item_id = t.id)"
    )
    assert rows(told, without) == [(limited,)]
    assert report["failed_credit"] > 0
    booked = "select coalesce(subject_id, ''), sum(cost_usd) > 0 from ops.calls group by 1 order by 1"
    assert rows(told, booked) == [("", True), (subjects[1], True)]
    left = "select subject_id, balance_usd < 1e6 from ops.subject_credits order by 1"
    assert rows(told, left) == [(limited, True), (subjects[1], True)]
    set_credit(told, "t", None, subject_id=limited)
    assert run(told, Counting())["turns"] > 0
    assert rows(told, without) == []


def test_everything_gets_vectors_terms_and_an_item(told: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "_CHUNK", 100)
    run_extract(told)
    embedder = Counting()
    report = run(told, embedder)
    turns, memories, vectors, items, parted = counts(
        told,
        "select count(*) from log.turns where text <> ''",
        "select count(*) from memory.memories",
        "select count(*) from memory.vectors",
        "select count(*) from memory.items",
        "select count(*) from ops.embeddings",
    )
    assert (report["turns"], report["memories"], report["parts"]) == (turns, memories, vectors)
    assert items == turns + memories
    assert len(embedder.texts) == len(set(embedder.texts)) == parted == report["parts"] - report["calls_saved"]
    assert report.model == embedder.model
    assert report.tokens == sum(map(words, embedder.texts))
    assert report.cost_usd == pytest.approx(0.01 * report.tokens)


def test_repeated_requests_are_in_the_costs(told: Store) -> None:
    class Repeating(Counting):
        def encode(self, texts: Sequence[str]) -> Vectors:
            lost_texts().extend(texts)
            return super().encode(texts)

    report = run(told, embedder := Repeating())
    tokens = 2 * sum(map(words, embedder.texts))
    assert report.tokens == tokens and report.cost_usd == pytest.approx(0.01 * tokens)
    assert rows(told, "select sum(tokens_in)::int from ops.calls") == [(tokens,)]


@pytest.mark.parametrize("few", [0, 3, 100])
def test_it_embeds_the_same_of_few_subjects_as_of_all(told: Store, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few subjects with new turns are looked at alone; of more, all turns are looked up (docs/decisions/0081)."""
    monkeypatch.setattr(read, "_FEW_SUBJECTS", few)
    run_extract(told)
    (turns,) = counts(told, "select count(*) from log.turns where text <> ''")
    assert run(told, Counting())["turns"] == turns
    (lost,) = counts(
        told,
        """with lost as (
               delete from memory.vectors where item = 'turn' and subject_id in
                   (select distinct subject_id from log.turns order by 1 limit 2) returning 1)
           select count(*) from lost""",
    )
    assert lost > 10
    embedder = Counting()
    report = run(told, embedder)
    assert (report["turns"], embedder.texts) == (lost, []), "each has its vector again, from the cache"


def test_the_first_words_of_a_reply_stand_with_the_question(told: Store) -> None:
    replies = """
        select i.asked_by = p.id
        from memory.memories m
        join memory.items i on i.item_id = m.id
        join log.turns t on t.id = m.turn_id
        join lateral (select id, text from log.turns p
                      where p.session_id = t.session_id and (p.said_at, p.turn_index) < (t.said_at, t.turn_index)
                      order by p.said_at desc, p.turn_index desc limit 1) p on true
        where p.text like '%?' and m.origin {} 'said' and position(lower(m.content) in lower(t.text)) {} 1"""
    policy = load_policy("reverie")
    extract(Work(store=told, scope=Scope(tenant_id="t"), policy=policy, as_of=LATE, embedder=WordEmbedder()))
    run(told, Counting(), policy)
    first, later, worded = (rows(told, replies.format(*each)) for each in (("=", "="), ("=", ">"), ("<>", "<>")))
    assert len(first) > 10 and set(first) == {(True,)}
    assert len(later) > 5 and set(later) == {(None,)}
    assert len(worded) > 10 and set(worded) == {(None,)}


def test_the_corpus_figures_are_those_of_the_postings(told: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "_CHUNK", 64)
    run_extract(told)
    run(told, WordEmbedder())
    with told.transaction("t") as conn:
        kept = conn.execute("select subject_id, items, terms from memory.subjects order by 1").fetchall()
        counted = conn.execute(
            """select subject_id, count(*), sum(dl)
               from (select distinct subject_id, item_id, dl from memory.postings) x group by 1 order by 1"""
        ).fetchall()
        speakers = conn.execute("select speakers from memory.subjects order by subject_id").fetchall()
    assert kept == counted
    assert all(names == sorted(set(names)) and names for (names,) in speakers)


def test_a_second_run_embeds_nothing_and_another_model_is_refused(told: Store) -> None:
    run_extract(told)
    run(told, WordEmbedder())
    before = digest(told, "t")
    embedder = Counting()
    again = run(told, embedder)
    assert not embedder.texts and not any(again.counts.values())
    assert digest(told, "t") == before
    embedder.model = "other"
    with pytest.raises(SettingsError, match=r"reverie reembed"):
        run(told, embedder)
    assert digest(told, "t") == before


def test_the_cache_makes_a_rebuild_free_and_the_same(told: Store) -> None:
    run_extract(told)
    run(told, WordEmbedder())
    before = digest(told, "t")
    with told.transaction("t") as conn:
        for table in ("vectors", "terms", "items", "subjects"):
            conn.execute(SQL("delete from memory.{}").format(Identifier(table)))
    embedder = Counting()
    report = run(told, embedder)
    assert not embedder.texts and report["calls_saved"] == report["parts"] and report.model_calls == 0
    assert digest(told, "t") == before


def test_a_dry_run_asks_no_model_and_writes_nothing(told: Store) -> None:
    run_extract(told)
    before = digest(told, "t")
    embedder = Counting()
    dry = run(told, embedder, dry_run=True)
    assert digest(told, "t") == before and not embedder.texts
    full = run(told, WordEmbedder())
    assert all(dry[name] == full[name] for name in ("turns", "memories", "parts"))
    assert counts(told, "select count(*) from ops.runs where stage = 'embed'") == [1]


def test_turns_stay_out_where_the_policy_does_not_recall_them(told: Store) -> None:
    run_extract(told)
    assert run(told, WordEmbedder(), lively("logic"))["turns"] == 0


def test_only_what_is_longer_than_a_chunk_is_cut() -> None:
    assert text_parts("short", POLICY.chunk, words) == ["short"]
    long = "This sentence is here to make the text long enough. " * 100
    parts = text_parts(long, POLICY.chunk, words)
    assert len(parts) > 1 and all(words(part) <= POLICY.chunk.max_tokens for part in parts)
    # white space has no chunk
    assert text_parts(" " * 501, POLICY.chunk, words) == [" " * 500]
