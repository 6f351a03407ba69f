"""An end outlives the statement that told it: it rests on the turn (docs/decisions/0125)."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from reverie.consolidate.merge.undo import undo
from reverie.drive.cycle import catch_up, ingest
from reverie.drive.rebuild import empty_memory
from reverie.model import stable_id
from reverie.recall.facts import load_facts
from reverie.recall.inspect import explain
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.session import perform
from reverie.store.work import Work
from tests.consolidate.test_currency import POLICY, SCOPE, consolidate, day, memory_id, rows, say, states, tell
from tests.promises.world import WordEmbedder


def forget(store: Store, content: str) -> None:
    """Forget a memory as the budget does."""
    with store.transaction("t") as conn:
        conn.execute("delete from memory.memories where content = %s", [content])


def test_an_end_rests_on_the_turn_that_ended_it(store: Store, tmp_path: Path) -> None:
    """It outlives the statement that told it, says so in the words of the turn, and can be undone and corrected."""
    tell(store, tmp_path / "a.jsonl", (1, "I love coffee."), (5, "I stopped liking coffee."), until=6)
    coffee, stopped = memory_id(store, "Likes coffee"), memory_id(store, "Stopped liking coffee")
    ended = "select m.superseded_by, m.valid_to, t.text from memory.memories m join log.turns t on t.id = m.ended_by"
    assert rows(store, ended) == [(stopped, day(5), "I stopped liking coffee.")]
    forget(store, "Stopped liking coffee")
    tell(store, tmp_path / "b.jsonl", (9, "I love tea."), until=10)
    assert states(store) == [("Likes coffee", "superseded"), ("Likes tea", "active")]
    assert rows(store, ended) == [(stopped, day(5), "I stopped liking coffee.")]
    explained = perform(explain(store.session("t"), str(coffee))).memory
    assert explained["ended_words"] == "I stopped liking coffee."
    undo(store, tenant_id="t", loser_id=coffee, policy=POLICY, as_of=day(11))
    tell(store, tmp_path / "c.jsonl", (12, "I love cake."), until=13)
    assert ("Likes coffee", "active") in states(store) and rows(store, ended) == []


def test_an_end_that_is_forgotten_can_be_corrected(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", (1, "I love coffee."), (5, "I stopped liking coffee."), until=6)
    stopped = memory_id(store, "Stopped liking coffee")
    with store.transaction("t") as conn:
        conn.execute(
            """insert into log.corrections (tenant_id, id, subject_id, kind, memory_id, corrected_at)
               values ('t', %s, 'ann', 'wrong', %s, %s)""",
            [stable_id(day(7), "c"), stopped, day(7)],
        )
    forget(store, "Stopped liking coffee")
    consolidate(store, 8)
    assert states(store) == [("Likes coffee", "active")]


def test_the_end_of_an_end_stays_too(store: Store, tmp_path: Path) -> None:
    """What holds again ends the end; once it is forgotten, the end does not come back."""
    tell(store, tmp_path / "a.jsonl", (1, "I stopped liking coffee."), (5, "I love coffee."), until=6)
    assert states(store) == [("Stopped liking coffee", "superseded"), ("Likes coffee", "active")]
    forget(store, "Likes coffee")
    tell(store, tmp_path / "b.jsonl", (9, "I love tea."), until=10)
    assert states(store) == [("Stopped liking coffee", "superseded"), ("Likes tea", "active")]


def test_what_only_tells_an_end_is_forgotten_first(store: Store, tmp_path: Path) -> None:
    """Of more than the budget; the end stays, in a rebuild too, and an end of nothing that is known is kept."""
    prune = POLICY.prune.model_copy(update={"budget": 3, "worth_told": 0.0})
    small = POLICY.model_copy(update={"prune": prune})
    common: dict[str, Any] = {"scope": SCOPE, "policy": small, "embedder": WordEmbedder()}
    said = (
        (1, "I stopped liking soup."), (3, "I love coffee."), (5, "I stopped liking coffee."), (7, "I love tea."),
        (9, "I love cake."),
    )  # fmt: skip
    say(store, tmp_path / "a.jsonl", *said)

    def run(until: float) -> None:
        work = Work(store=store, as_of=day(until), **common)
        for _ in (*ingest(work), *catch_up(work)):
            pass

    for until in (2, 6, 8, 10, 12):
        run(until)
    left = states(store)
    assert ("Likes coffee", "superseded") in left and ("Stopped liking soup", "active") in left
    assert "Stopped liking coffee" not in dict(left)
    gone = rows(store, "select distinct reason, kind from memory.tombstones where kind <> 'episode'")
    assert gone == [("budget", "preference")], "nothing else that was stated"
    live = digest(store, "t")
    empty_memory(Work(store=store, as_of=day(12), **common))
    run(12)
    assert digest(store, "t") == live


def test_what_has_expired_is_no_fact_any_more(store: Store, tmp_path: Path) -> None:
    """From its last day on it is not told; once its memory is forgotten, nothing keeps its words."""
    tell(store, tmp_path / "a.jsonl", (1, "I live in Oslo until 1 April 2026."), (2, "I love tea."), until=3)
    ((ends, value),) = rows(store, "select expires_at, object from memory.memories where relation = 'lives_in'")

    def facts(at: datetime, **asked: Any) -> list[tuple[str, datetime | None]]:
        found = perform(load_facts(store.session("t"), subject_id="ann", as_of=at, **asked))
        return [(fact.value, fact.valid_to) for fact in found if "Oslo" in fact.value]

    assert facts(ends - timedelta(seconds=1)) == [(value, None)]
    assert facts(ends) == [] and facts(ends, history=True) == [(value, ends)]
    forget(store, f"Lives in {value}")
    assert facts(ends) == [], "although its memory is forgotten before"
    later = (ends - day(0)).days + POLICY.prune.expired_days + 2
    consolidate(store, later)
    assert facts(ends - timedelta(seconds=1), history=True) == []
    assert rows(store, "select count(*) from memory.structured_facts where value like '%%Oslo%%'") == [(0,)]


def test_a_pinned_fact_stays_after_its_end(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", (1, "I live in Oslo until 1 April 2026."), until=2)
    with store.transaction("t") as conn:
        conn.execute(
            """insert into memory.marks (tenant_id, subject_id, item_id, item, mark, correction_id, pending)
               select 't', 'ann', id, 'memory', 'pinned', id, false from memory.memories where kind = 'fact'"""
        )
    consolidate(store, 160)
    assert rows(store, "select count(*) from memory.structured_facts") == [(1,)]


def test_a_fact_from_before_0035_ends_with_its_memory(store: Store, tmp_path: Path) -> None:
    tell(store, tmp_path / "a.jsonl", (1, "I live in Oslo until 1 April 2026."), until=2)
    with store.transaction("t") as conn:
        conn.execute("update memory.structured_facts set expires_at = null, polarity = null, relation = null")
    assert perform(load_facts(store.session("t"), subject_id="ann", as_of=day(3)))
    assert perform(load_facts(store.session("t"), subject_id="ann", as_of=day(120))) == []
