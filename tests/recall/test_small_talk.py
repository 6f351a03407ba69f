"""Small talk answers no message."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from reverie.recall.places.small_talk import asks_back, asks_memory, is_small_talk, without_small_talk
from reverie.recall.result import Hit


def hit(number: int, content: str, item: str = "turn") -> Hit:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    shown = "memory" if item == "memory" else "turn"
    return Hit(shown, UUID(int=number), "fact", content, at, -number, {}, {}, None, None, None)  # type: ignore[arg-type]


SAID = [
    hit(1, "Ann: Thanks, will do! Talk soon, bye!"),
    hit(2, "Ann: I am allergic to peanuts and my sister lives in Leeds."),
    hit(3, "Thanks, bye!", "memory"),
    hit(4, "Ann: Wow, that looks amazing!"),
]


def test_turns_that_tell_nothing_are_left_out() -> None:
    left = without_small_talk([(one, None) for one in SAID], 0.2, among=10, speakers=["Ann"])
    assert [(one.id.int, reason) for one, reason in left] == [
        (1, "small_talk"),
        (2, None),
        (3, None),
        (4, "small_talk"),
    ]


def test_only_the_best_are_looked_at_and_other_reasons_stay() -> None:
    left = without_small_talk([(SAID[0], "expired"), (SAID[1], None), (SAID[3], None)], 0.2, among=1, speakers=["Ann"])
    assert [reason for _, reason in left] == ["expired", None, None]


def test_what_a_memory_was_made_of_tells_enough() -> None:
    memory = hit(9, "Can't stand the pastel header")._replace(item="memory", kind="preference", turn_id=SAID[0].id)
    left = without_small_talk([(SAID[0], None), (memory, None)], 0.2, among=10, speakers=["Ann"])
    assert [reason for _, reason in left] == [None, None]


def test_greetings_answer_nothing_that_a_person_says() -> None:
    turns = [(hit(1, "Bob: Hey Ann, what's up?"), None), (hit(2, "Bob: The kids start school on Monday"), None)]
    left = without_small_talk(turns, 0.0, among=10, speakers=("Ann", "Bob"))
    assert [reason for _, reason in left] == ["small_talk", None]


@pytest.mark.parametrize(
    "message",
    [
        "Thanks, Bob! Take care and see you soon!",
        "Will do! Thanks for the recommendation!",
        "wow that's amazing, so cool",
        "thanks, that's all for today!",
        "good morning!",
        "Thanks, Kevin!",
        "It was lovely speaking to you today Liza! Speak soon!",
        "ok",
        "haha that's hilarious",
        "it was great catching up",
        "no pressure, whatever works for you",
        "So cold outside today",
        "Hmm, interesting point",
        "Whoa, that's crazy",
    ],
)
def test_pleasantries_are_small_talk(message: str) -> None:
    assert is_small_talk(message, ["Bob"])


@pytest.mark.parametrize(
    "message",
    [
        "what a day, my boss shouted at me again",
        "I finally told my sister no",
        "thinking of Thai food tonight",
        "quartz",
        "Should we start on Instagram?",
        "I live in Leeds",
        "We're going camping again this weekend!",
        "I painted something new yesterday",
        "The shelter called me this morning",
        "so what do you think about the elections",
        "I have a headache",
        "I got fired today",
        "The deadline is Friday",
        "I love hot yoga",
        "My birthday is in March",
        "What are the best ways to get around Paris?",
        "Ich bin heute krank",
    ],
)
def test_what_tells_something_is_none(message: str) -> None:
    assert not is_small_talk(message, ["Bob"])


@pytest.mark.parametrize(
    ("question", "only_addressed"),
    [
        ("How are you?", True),
        ("And how was your weekend?", True),
        ("How is she?", False),
        ("What are my plans for today?", False),
        ("Where do we meet tomorrow?", False),
    ],
)
def test_a_question_asks_back_where_it_speaks_of_nobody_else(question: str, only_addressed: bool) -> None:
    assert asks_back(question) is only_addressed


@pytest.mark.parametrize(
    "text",
    [
        "what do you know about me",
        "so what did i say yesterday",
        "what am i doing tomorrow",
        "who am i",
        "tell me what you know about me",
        "do you know who i am",
        "What should I have in mind for this week?",
        "What's on this week?",
        "whats on tomorrow",
        "What happened yesterday?",
        "anything on for Friday?",
    ],
)
def test_a_question_of_common_words_asks_memory(text: str) -> None:
    assert asks_memory(text)


@pytest.mark.parametrize(
    "text",
    [
        "what can i say",
        "how can i help",
        "what a day i had",
        "how i love weekends",
        "what's up today",
        "how was your weekend?",
        "tell me about your day",
        "tell me more",
        "what happened",
        "when will i see you",
    ],
)
def test_pleasantries_do_not_ask_memory(text: str) -> None:
    assert not asks_memory(text)
