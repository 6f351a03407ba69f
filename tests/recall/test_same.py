"""What was said several times, or is a memory and its turn, takes one place."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.language.objects import read_object
from reverie.recall.places.same import one_place_each, says_more
from reverie.recall.result import Hit

START = datetime(2026, 1, 1, tzinfo=UTC)


def hit(number: int, content: str, *, turn: int | None = None, item: str = "turn", days: int = 0) -> Hit:
    return Hit(
        item="memory" if item == "memory" else "turn",
        id=UUID(int=number),
        kind="fact" if item == "memory" else "turn",
        content=content,
        happened_at=START + timedelta(days=days),
        score=-float(number),
        signals={},
        ranks={"dense": number},
        turn_id=UUID(int=turn) if turn else UUID(int=number) if item == "turn" else None,
        session_id=None,
        importance=None,
    )


def test_the_same_words_take_one_place_in_their_newest_wording() -> None:
    ranked = [hit(n, "I love waffles." if n % 2 else "I really love waffles", days=n) for n in range(1, 13)]
    kept, dropped = one_place_each([*ranked, hit(20, "Waffles make me sick these days.", days=20)], longest_turn=80)
    assert [(one.id.int, one.times) for one in kept] == [(12, 12), (20, 1)]
    assert (kept[0].score, kept[0].ranks, kept[0].first_at) == (-1.0, {"dense": 1}, START + timedelta(days=1))
    assert kept[0].told == "I really love waffles (said 12 times since 2026-01-02)"
    assert {one.reason for one in dropped} == {"same"}


def test_other_words_keep_their_places() -> None:
    said = ["I love waffles.", "I can't stand waffles.", "Ann: I love waffles.", "I love 2 waffles.", "No.", "No."]
    kept, dropped = one_place_each([hit(n, text) for n, text in enumerate(said, 1)], longest_turn=80)
    assert (len(kept), dropped) == (len(said), [])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My favourite language is C++", "My favourite language is C#."),
        ("It was -5 degrees here", "It was 5 degrees here"),
        ("The ticket costs $50", "The ticket costs €50"),
        ("The new plan 👍", "The new plan 👎"),
        ("उसका नाम मीना है", "उसका नाम मोना है"),
    ],
)
def test_a_sign_or_a_vowel_mark_is_another_word(one: str, other: str) -> None:
    kept, dropped = one_place_each([hit(1, one), hit(2, other)], longest_turn=80)
    assert (len(kept), dropped) == (2, [])


def test_punctuation_is_no_part_of_a_word() -> None:
    said = ["I love waffles, *honestly*!", "“I love waffles — honestly…”", "I love (waffles): honestly"]
    kept, _ = one_place_each([hit(n, text) for n, text in enumerate(said, 1)], longest_turn=80)
    assert [one.times for one in kept] == [3]


def test_a_sign_that_stands_alone_is_no_word() -> None:
    said = ["I love waffles & cream", "- I love waffles cream", "I love – waffles / cream", "# I love waffles cream --"]
    kept, _ = one_place_each([hit(n, text) for n, text in enumerate(said, 1)], longest_turn=80)
    assert [one.times for one in kept] == [4]


def test_a_memory_never_hides_a_turn_that_says_more() -> None:
    turn = hit(2, "My dog Rex is doing great, took him to the vet in Camden for shots", days=1)
    kept, dropped = one_place_each([hit(1, "Has a dog named Rex", item="memory", turn=2), turn], longest_turn=80)
    assert [(one.id.int, one.score) for one in kept] == [(2, -1.0)]
    assert [(one.id.int, one.reason) for one in dropped] == [(1, "same_turn")]


def test_of_equals_the_memory_is_given_wherever_it_ranks() -> None:
    memory, turn = hit(1, "Lives in Bergen", item="memory", turn=2), hit(2, "I live in Bergen, you know")
    for ranked in ([memory, turn], [turn, memory]):
        kept, dropped = one_place_each(ranked, longest_turn=80)
        assert [(one.id.int, one.turn_id, one.score) for one in kept] == [(1, UUID(int=2), ranked[0].score)]
        assert [(one.id.int, one.reason) for one in dropped] == [(2, "same_turn")]
    assert not says_more("word " * 81, "Lives in Bergen", 80)
    assert says_more("Anna drove to Rome by car", "Lives in Bergen", 80)


def test_a_turn_with_what_is_asked_for_is_given() -> None:
    memory, turn = hit(1, "Lives in Bergen", item="memory", turn=2), hit(2, "I live in Bergen by choice")
    for ranked in ([memory, turn], [turn, memory]):
        kept, _ = one_place_each(ranked, longest_turn=80, asked=frozenset(read_object("Is it her choice?").words))
        assert [one.id.int for one in kept] == [2]


def test_a_turn_of_which_several_memories_are_found_is_given() -> None:
    turn = hit(3, "Dr Amsel has retired, my doctor is Dr Petrosyan now.")
    ended = hit(1, "Doctor is no longer Dr Amsel", item="memory", turn=3)
    holds = hit(2, "Doctor: Dr Petrosyan", item="memory", turn=3)
    kept, dropped = one_place_each([ended, turn, holds], longest_turn=80)
    assert [one.id.int for one in kept] == [3]
    assert {(one.id.int, one.reason) for one in dropped} == {(1, "same_turn"), (2, "same_turn")}
    kept, _ = one_place_each([ended, turn], longest_turn=80)
    assert [one.id.int for one in kept] == [1]
    kept, _ = one_place_each([ended, turn, holds], longest_turn=5)
    assert [one.id.int for one in kept] == [1]


TEXTS = st.sampled_from(["I love waffles", "I really love waffles!", "We live in Oslo now", "No", "Yes, no"])
RANKED = st.lists(
    st.tuples(TEXTS, st.sampled_from(["turn", "memory"]), st.one_of(st.none(), st.integers(1, 5)), st.integers(0, 9)),
    max_size=20,
).map(lambda rows: [hit(n + 10, t, item=i, turn=o, days=d) for n, (t, i, o, d) in enumerate(rows)])  # fmt: skip


@given(ranked=RANKED)
def test_everything_has_a_place_or_gave_it_up(ranked: list[Hit]) -> None:
    kept, dropped = one_place_each(ranked, longest_turn=80)
    assert sorted([one.id for one in kept] + [one.id for one in dropped]) == sorted(one.id for one in ranked)
    assert [one.score for one in kept] == sorted((one.score for one in kept), reverse=True)
    origins = [one.turn_id or one.id for one in kept]
    assert len(set(origins)) == len(origins), "what was said in one turn comes once"
