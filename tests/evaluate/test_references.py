"""Which messages refer to something said earlier."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest

from reverie.evaluate.retrieval.references import (
    Reference,
    SaidTurn,
    confirmed,
    content_words,
    find_references,
    names_of,
    sentences_of,
)
from reverie.policy import EvaluationPolicy

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
#: With so few turns no word is as rare as in a real log.
NUMBERS = EvaluationPolicy(shared_rarity=2.0)

FILLER = (
    "I planted tomatoes on the balcony.", "My sister studies chemistry in Leeds.", "I repaired the old bicycle.",
    "We painted the kitchen yellow.", "My landlord raised the rent.", "I joined a choir at the library.",
)  # fmt: skip
EARLIER = "I have a golden retriever named Bruno."


def said(*texts: str | tuple[str, str], session: str = "s1") -> list[SaidTurn]:
    """Turns one minute apart; a pair is (role, text)."""
    pairs = [("user", each) if isinstance(each, str) else each for each in texts]
    return [turn(number, text, role=role, session=session) for number, (role, text) in enumerate(pairs)]


def turn(number: int, text: str, *, role: str = "user", session: str) -> SaidTurn:
    at = START + timedelta(days=int(session[1:]), minutes=number)
    return SaidTurn(
        id=UUID(int=100 * int(session[1:]) + number), subject_id="ann", session_id=session, role=role, speaker="Ann",
        said_at=at, text=text,
    )  # fmt: skip


def found(later: str | tuple[str, str], numbers: EvaluationPolicy = NUMBERS) -> list[Reference]:
    return list(find_references([*said(EARLIER, *FILLER), *said(later, session="s2")], numbers))


def near(references: Sequence[Reference], cosine: float, numbers: EvaluationPolicy = NUMBERS) -> list[Reference]:
    """Confirm references with vectors of which a message's and the earlier ones' have this cosine."""
    messages = {each.text for each in references}
    there, here = np.array([1.0, 0.0], np.float32), np.array([cosine, (1 - cosine**2) ** 0.5], np.float32)
    vectors = {text: here if text in messages else there for text in sentences_of(references)}
    return list(confirmed(references, vectors, numbers))


def test_a_message_that_shares_rare_words_refers_to_the_turn() -> None:
    (reference,) = found("My golden retriever had a bath. What a mess!")
    assert [one.text for one in reference.earlier] == [EARLIER]
    assert reference.text == "My golden retriever had a bath."
    assert {"golden", "retriever"} <= reference.words


@pytest.mark.parametrize(
    "later",
    [
        "I bought a golden lamp.",  # one word
        ("assistant", "Your golden retriever is sweet."),  # no message of the user
        "Thanks, see you tomorrow!",
    ],
)
def test_what_shares_too_little_refers_to_nothing(later: str | tuple[str, str]) -> None:
    assert found(later) == []


def test_nothing_refers_within_its_own_session() -> None:
    turns = said(EARLIER, *FILLER, "My golden retriever had a bath.")
    assert list(find_references(turns, NUMBERS)) == []


def test_what_stands_in_brackets_was_not_said() -> None:
    assert found("Look at this! [shares a photo of a golden retriever in a bath]") == []


def test_what_comes_later_changes_nothing() -> None:
    before = found("My golden retriever had a bath.")
    after = [turn(number, f"My golden retriever ate shoe {number}.", session="s3") for number in range(9)]
    turns = [*said(EARLIER, *FILLER), *said("My golden retriever had a bath.", session="s2"), *after]
    assert list(find_references(turns, NUMBERS))[:1] == before


def test_what_many_turns_share_refers_to_none() -> None:
    many = [f"I walked my golden retriever in park {number}." for number in range(6)]
    turns = [*said(*many, *FILLER), *said("My golden retriever had a bath.", session="s2")]
    assert list(find_references(turns, NUMBERS)) == []


def test_an_earlier_question_answers_nothing() -> None:
    turns = [
        *said("Is your golden retriever healthy?", *FILLER),
        *said("My golden retriever had a bath.", session="s2"),
    ]
    assert list(find_references(turns, NUMBERS)) == []


def test_the_vectors_must_be_near_too() -> None:
    references = found("My golden retriever had a bath.")
    assert near(references, 0.75) == references
    assert near(references, 0.65) == []


def test_what_asks_or_shares_a_name_may_be_farther() -> None:
    asks = found("Is a golden retriever easy to keep?")
    assert near(asks, 0.65) == asks and near(asks, 0.55) == []
    named = found("Guess whether Bruno, the retriever, liked his bath?")
    assert named[0].names == {"bruno"}
    assert near(named, 0.55) == named and near(named, 0.45) == []


def test_content_words_are_what_names_something() -> None:
    assert content_words("Thanks! Yesterday I got two new puppies.") == {"puppy"}
    assert names_of("Bruno ate. My dog Bruno and Tom sleep.") == {"bruno", "tom"}
