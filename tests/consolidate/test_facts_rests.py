"""What is left of a sentence of which a part ended."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from psycopg.sql import SQL, Identifier

from reverie.consolidate.facts import judge as judging
from reverie.consolidate.facts.rests import read_alone, tells_alone
from reverie.inference.judge import EndPair
from reverie.inference.reader import shared_reader
from reverie.policy import load_policy
from reverie.store.database import Store
from tests.consolidate.test_compress import say
from tests.consolidate.test_facts_judge import START, run_facts

POLICY = load_policy("reverie")
NUMBERS = POLICY.extract.reader
#: Everything is kept in its own words, whatever the reader is sure of.
OWN_WORDS = POLICY.model_copy(
    update={"extract": POLICY.extract.model_copy(update={"reader": NUMBERS.model_copy(update={"confidence": 1.0})})}
)
SENTENCE = "Flight booked, BA 112 to Porto, window seat, 3 May"
LEFT = "Flight booked, BA 112 to Porto, 3 May"


def test_what_tells_something_by_itself_stays_and_a_fragment_does_not() -> None:
    texts = ["I take amlodipine 10 mg every morning", "the 2nd of March!", "and leave it there"]
    assert [tells_alone(each, NUMBERS) for each in read_alone(texts, shared_reader())] == [True, False, False]
    assert read_alone([], shared_reader()) == []


def test_what_nobody_wants_kept_does_not_stay() -> None:
    (readings,) = read_alone(["I take amlodipine 10 mg every morning"], shared_reader())
    assert not tells_alone(readings, NUMBERS.model_copy(update={"wanted": 1.0}))


class JudgeOfSeats:
    """A judge to whom a seat or day is over as soon as there is another, and nothing else ever is."""

    model = version = "judge-seats"

    def chances(self, pairs: Sequence[EndPair]) -> list[float]:
        """The chance of each pair."""
        over = (("window", "aisle"), ("3 May", "June"))
        return [
            0.95 if any(old in pair.statement and new in pair.message for old, new in over) else 0.01 for pair in pairs
        ]


def holding(conn: Any) -> dict[str, bool]:
    rows = conn.execute(
        "select content, valid_to is null and into_id is null from memory.memories where content like 'Flight booked%'"
    )
    return dict(rows.fetchall())


def test_what_is_left_of_a_sentence_stands_beside_it_through_later_cycles(
    store: Store, conn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "shared_judge", lambda _: JudgeOfSeats())
    say(conn, SENTENCE, START, session="a")
    run_facts(store, OWN_WORDS, 1)
    assert holding(conn) == {SENTENCE: True}
    say(conn, "They moved me to an aisle seat on the flight to Porto", START + timedelta(days=2), session="b")
    run_facts(store, OWN_WORDS, 3)
    after = {SENTENCE: False, LEFT: True}
    assert holding(conn) == after
    # the cycles that follow embed what is left, and compare it with the sentence
    for day in (4, 5):
        say(conn, f"My knee hurts again, {day} days now", START + timedelta(days=day - 0.5), session=str(day))
        run_facts(store, OWN_WORDS, day)
        assert holding(conn) == after


def test_a_later_message_of_the_same_cycle_ends_what_is_left(
    store: Store, conn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "shared_judge", lambda _: JudgeOfSeats())
    texts = (
        SENTENCE,
        "They moved me to an aisle seat on the flight to Porto",
        "They moved the flight to Porto, it is in June now",
    )
    for day, text in enumerate(texts):
        say(conn, text, START + timedelta(days=2 * day), session=str(day))
    # a cycle decides twice: what was left is a memory by the second time
    for day in (1, 1.5, 3, 3.5, 5, 5.5):
        run_facts(store, OWN_WORDS, day)
    live = holding(conn)
    assert (live[SENTENCE], live[LEFT]) == (False, False)
    for table in ("judged_ends", "memories", "extractions", "tombstones"):
        conn.execute(SQL("delete from memory.{}").format(Identifier(table)))
    for _ in range(2):
        run_facts(store, OWN_WORDS, 5.5)
    assert holding(conn) == live
