"""What fits into the answer."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from reverie.recall.places.budget import PROCEDURAL, within_budget
from reverie.recall.result import Hit


def hit(number: int, *, tokens: int = 1, kind: str = "fact", turn: int | None = None) -> Hit:
    return Hit(
        item="turn" if kind == "turn" else "memory",
        id=UUID(int=number),
        kind=kind,
        content="x" * tokens,
        happened_at=datetime(2026, 1, 1, tzinfo=UTC),
        score=-float(number),
        signals={},
        ranks={},
        turn_id=None if turn is None else UUID(int=1_000_000 + turn),
        session_id=None,
        importance=None,
    )


KINDS = st.sampled_from(["turn", "fact", "preference", "instruction", "pattern"])
RANKED = st.lists(
    st.tuples(st.integers(0, 30), KINDS, st.one_of(st.none(), st.integers(0, 5))), max_size=40
).map(lambda rows: [hit(n, tokens=t, kind=k, turn=o) for n, (t, k, o) in enumerate(rows)])  # fmt: skip


@given(ranked=RANKED, top_k=st.integers(0, 12), budget=st.integers(0, 120))
def test_an_answer_keeps_within_its_bounds(ranked: list[Hit], top_k: int, budget: int) -> None:
    hits, dropped = within_budget(ranked, top_k=top_k, token_budget=budget, count_tokens=len)
    assert len(hits) <= top_k
    assert sum(one.tokens for one in hits) <= budget
    assert all(one.tokens == len(one.content) for one in hits)
    assert [one.id for one in hits] == sorted(one.id for one in hits), "the order is that of the ranking"
    assert sorted([one.id for one in hits] + [one.id for one in dropped]) == [one.id for one in ranked]
    assert {one.reason for one in dropped} <= {"rank", "budget"}


@given(ranked=RANKED, top_k=st.integers(1, 12))
def test_with_tokens_enough_the_best_are_given(ranked: list[Hit], top_k: int) -> None:
    hits, _ = within_budget(ranked, top_k=top_k, token_budget=10_000, count_tokens=len)
    assert [one.id for one in hits] == [one.id for one in ranked][:top_k]


@given(ranked=RANKED, top_k=st.integers(1, 12))
def test_procedural_memories_come_first_where_the_policy_says_so(ranked: list[Hit], top_k: int) -> None:
    hits, _ = within_budget(ranked, top_k=top_k, token_budget=10_000, count_tokens=len, procedural_first=True)
    procedural = [one.id for one in ranked if one.kind in PROCEDURAL]
    others = [one.id for one in ranked if one.kind not in PROCEDURAL]
    assert [one.id for one in hits] == [*procedural, *others][:top_k]


@given(ranked=RANKED, top_k=st.integers(1, 12), budget=st.integers(0, 120))
def test_one_more_never_would_have_fitted(ranked: list[Hit], top_k: int, budget: int) -> None:
    hits, dropped = within_budget(ranked, top_k=top_k, token_budget=budget, count_tokens=len)
    if len(hits) < top_k:
        left = budget - sum(one.tokens for one in hits)
        sizes = {one.id: len(one.content) for one in ranked}
        considered = [one for one in dropped if one.reason == "budget"][: 3 * top_k]
        assert all(sizes[one.id] > left for one in considered)


def test_preferences_and_instructions_get_their_tokens_first() -> None:
    ranked = [hit(0, tokens=6), hit(1, tokens=6, kind="preference"), hit(2, tokens=4)]
    hits, dropped = within_budget(ranked, top_k=3, token_budget=10, count_tokens=len)
    assert [one.id.int for one in hits] == [1, 2]
    assert [(one.id.int, one.reason) for one in dropped] == [(0, "budget")]
    assert "preference" in PROCEDURAL


def test_what_does_not_fit_leaves_its_place_to_the_next() -> None:
    ranked = [hit(0, tokens=5), hit(1, tokens=50), hit(2, tokens=5), hit(3, tokens=5)]
    hits, dropped = within_budget(ranked, top_k=2, token_budget=20, count_tokens=len)
    assert [one.id.int for one in hits] == [0, 2]
    assert {one.id.int: one.reason for one in dropped} == {1: "budget", 3: "rank"}


def test_tokens_are_counted_of_no_more_than_are_needed() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    ranked = [hit(n, tokens=9 if n == 1 else 1) for n in range(40)]
    hits, dropped = within_budget(ranked, top_k=3, token_budget=5, count_tokens=count)
    assert [one.id.int for one in hits] == [0, 2, 3]
    assert {one.id.int: one.reason for one in dropped if one.reason == "budget"} == {1: "budget"}
    assert len(counted) == 4
