"""Pins: what a person pinned neither fades nor goes, and what it becomes is pinned too."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from reverie.capture.live.corrections import Asked, CorrectionAsked, correct_memory
from reverie.consolidate.correct.stage import correct
from reverie.consolidate.merge.decide import NearMemory, decide_merges
from reverie.consolidate.score.decide import apply_touches
from reverie.model import Scope, stable_id
from reverie.policy.fading import as_real
from reverie.store.database import Store
from reverie.store.session import perform
from reverie.store.work import Work
from tests.consolidate import test_compress as themes
from tests.consolidate import test_merge as merging
from tests.consolidate import test_prune as pruning
from tests.consolidate import test_score as scoring
from tests.promises.world import WordEmbedder, lively

Conn = psycopg.Connection[Any]

POLICY = lively("reverie", compress={"pattern_episodes": 5, "running_turns": 0})


def pin(conn: Conn, id_: UUID, *, pending: bool = False) -> None:
    """Mark a memory as the stage correct does, or, as `pending`, as a request does."""
    conn.execute(
        """insert into memory.marks (tenant_id, subject_id, item_id, correction_id, item, mark, pending, run_id)
           select tenant_id, subject_id, id, id, 'memory', 'pinned', %s, run_id from memory.memories where id = %s""",
        [pending, id_],
    )


def pinned(conn: Conn) -> set[UUID]:
    return {row[0] for row in conn.execute("select item_id from memory.marks where mark = 'pinned'")}


def test_a_pattern_that_is_made_again_stays_pinned(store: Store, conn: Conn) -> None:
    themes.tell_of_bruno(conn)
    themes.at(store, POLICY, 20)
    made = "select id from memory.memories where kind = 'pattern' and state = 'active'"
    seen: list[UUID] = []
    for number in range(3):
        ((pattern,),) = conn.execute(made).fetchall()
        seen.append(pattern)
        if number == 0:
            pin(conn, pattern)
        assert pinned(conn) == set(seen)
        day = themes.MARCH + timedelta(days=30 + number)
        themes.remember(conn, themes.say(conn, "...", day), f"Bruno swam {number} times", "pet:bruno")
        assert themes.at(store, POLICY, 40 + number)["replaced"] == 1


def test_a_recall_of_a_pinned_memory_does_not_make_it_fade(store: Store, conn: Conn, tmp_path: Any) -> None:
    scoring.tell(store, tmp_path / "a.jsonl", (0.0, "I love spicy ramen and I hate cilantro."))
    before = scoring.memories(store)
    kept, asked, *_ = (UUID(memory["id"]) for memory in before)
    pin(conn, kept)
    pin(conn, asked, pending=True)
    scoring.ask(store, 300, kept, asked)
    assert scoring.run(store)["recalled"] == 2
    peaks = {UUID(memory["id"]): memory["peak"] for memory in before}
    after = {UUID(memory["id"]): memory for memory in scoring.memories(store)}
    assert after[kept]["peak"] == after[kept]["importance"] == peaks[kept]
    assert after[kept]["access_count"] == 1
    assert after[asked]["peak"] < peaks[asked]


def test_one_that_is_superseded_keeps_its_importance_too() -> None:
    touch = scoring.touch(300, outcome=False)
    ended = {"valid_to": scoring.day(10), "lasting": True}
    for is_pinned in (True, False):
        state = type(touch)(**{name: getattr(touch, name) for name in touch.__slots__} | ended | {"pinned": is_pinned})
        (after,) = apply_touches([state], scoring.POLICY)
        assert (as_real(after.peak) == as_real(touch.peak)) == is_pinned


@pytest.mark.parametrize("which", [0, 1])
def test_a_pinned_memory_has_not_faded_when_it_merges(which: int) -> None:
    first, second = (
        NearMemory(stable_id(at, "tea"), "ann", "fact", state, "Likes tea", 0, peak, at, at, 1)
        for state, peak, at in [
            ("active", 0.8, merging.ORIGIN),
            ("candidate", 0.3, merging.ORIGIN + timedelta(days=150)),
        ]
    )
    (first, second)[which].pinned = True
    (merge,) = decide_merges([first, second], [(first.id, second.id, 0.99)], [], merging.POLICY).merges
    worth = 0.8 if which == 0 else 0.3
    assert merge.peak_after == pytest.approx(worth + merging.POLICY.merge.reinforce)
    assert merge.survivor.pinned


def test_merge_reads_what_is_pinned(store: Store, conn: Conn) -> None:
    old = merging.Memory("Likes tea", day=0, base=0.8)
    merging.put(store, old)
    merging.run_merge(store, 10)
    pin(conn, old.id)
    merging.put(store, merging.Memory("Likes tea.", day=150, base=0.3))
    assert merging.run_merge(store)["merged"] == 1
    peaks = conn.execute("select peak from memory.memories where state = 'active'").fetchall()
    assert peaks == [(pytest.approx(0.85),)]


def test_a_pin_that_was_taken_back_at_the_same_time_keeps_nothing(store: Store) -> None:
    """Corrections of one time hold in the order in which they were made (decision 0088)."""
    loose, kept = pruning.put(store, "nobody asked again"), pruning.put(store, "asked for")
    at = pruning.ORIGIN + timedelta(days=1)

    def ask_for(memory: UUID, *asked: Asked) -> None:
        for each in asked:
            correction = CorrectionAsked(memory_id=memory, asked=each)
            perform(correct_memory(store.session("t"), correction, policy=pruning.POLICY, as_of=at))

    ask_for(loose, "pin", "unpin")
    ask_for(kept, "pin", "unpin", "pin")
    scope = Scope(tenant_id="t")
    correct(Work(store=store, scope=scope, policy=pruning.POLICY, as_of=at, embedder=WordEmbedder()))
    assert pruning.run(store, 60)["forgotten"] == 1
    with store.transaction("t") as conn:
        assert conn.execute("select id from memory.memories").fetchall() == [(kept,)]


def test_an_unpin_reaches_the_memory_that_inherited_the_pin(store: Store, conn: Conn) -> None:
    old, new = merging.SHORT, merging.WORDS
    merging.put(store, old)
    merging.run_merge(store, 1)

    def ask_for(memory: UUID, asked: Asked, day: int) -> None:
        at = merging.ORIGIN + timedelta(days=day)
        correction = CorrectionAsked(memory_id=memory, asked=asked)
        perform(correct_memory(store.session("t"), correction, policy=merging.POLICY, as_of=at))
        scope = Scope(tenant_id="t")
        correct(Work(store=store, scope=scope, policy=merging.POLICY, as_of=at, embedder=WordEmbedder()))

    ask_for(old.id, "pin", 2)
    merging.put(store, new)
    assert merging.run_merge(store)["merged"] == 1
    assert pinned(conn) == {old.id, new.id}
    conn.execute("update memory.memories set forget_at = %s where id = %s", [merging.ORIGIN, new.id])
    conn.commit()
    ask_for(old.id, "unpin", 160)
    assert pinned(conn) == set()
    ((due,),) = conn.execute("select forget_at from memory.memories where id = %s", [new.id]).fetchall()
    assert due == merging.ORIGIN + timedelta(days=160), "not as of a time at which it was pinned"
