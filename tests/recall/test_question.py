"""What a question asks for besides its words: the times that it names, and of whom."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.recall import question as module
from reverie.recall.question import read_question, spans
from tests.recall.conftest import policy_with

ASKED = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What was on 2026-03-04?", [("2026-03-04", "2026-03-05")]),
        ("What was on the 4th of MARCH, 2026?", [("2026-03-04", "2026-03-05")]),
        ("Who came in Sept. 2025?", [("2025-09-01", "2025-10-01")]),
        ("Who came on December 24?", [("2025-12-24", "2025-12-25")]),
        ("Who came in late december", [("2025-12-01", "2026-01-01")]),
        ("Who came on February 31?", []),
        ("Who came TWO days AGO?", [("2026-11-19", "2026-11-21")]),
        ("Who came on 30 November?", [("2025-11-30", "2025-12-01")]),
        ("Who came on 21 November?", [("2026-11-21", "2026-11-22")]),
        ("It is valid until 9999-12-31", []),
        (f"That was {'9' * 5000} days ago", []),
        ("What was said Last Week?", [("2026-11-08", "2026-11-22")]),
        ("May I ask who marched?", []),
        ("Who came at last, long ago?", []),
    ],
)
def test_times_are_found_however_they_are_written(question: str, found: list[tuple[str, str]]) -> None:
    assert [tuple(f"{end:%Y-%m-%d}" for end in span) for span in spans(question, ASKED)] == found


def test_who_is_asked_about_speaks_of_themselves() -> None:
    def asked(*speakers: str) -> tuple[tuple[str, ...], str]:
        text = "Did ANA like Ana's dog?"
        read = read_question(text, policy=policy_with().recall, speakers=speakers, asked_at=ASKED)
        return read.mentioned, read.spoken

    assert asked("Ana", "Ben") == (("Ana",), "Did I like my dog?")
    assert asked("Ana") == ((), "Did I like my dog?")
    assert asked("Ben") == ((), "Did ANA like Ana's dog?")


@pytest.mark.parametrize(
    ("text", "embedded"),
    [
        ("hey Mel, how are the kids?", "how are the kids?"),
        ("Good morning Anna! Did you sleep well?", "Did you sleep well?"),
        ("Hi there. Hello Tom, I need a table for two", "I need a table for two"),
        ("Hello Dr. Smith", "Hello Dr. Smith"),
        ("High prices today", "High prices today"),
        ("Hey I lost my keys", "Hey I lost my keys"),
    ],
)
def test_a_greeting_is_not_embedded(text: str, embedded: str) -> None:
    assert read_question(text, policy=policy_with().recall, speakers=(), asked_at=ASKED).spoken == embedded


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Where did we go last summer?", "question"),
        ("what is my dog called", "question"),
        ("What books would Ana like?", "question"),
        ("Can you remind me what you recommended?", "question"),
        ("quartz river", "question"),
        ("remind me why the migration was empty", "question"),
        ("remind me to call the landlord tomorrow", "message"),
        ("What could I cook tonight?", "request"),
        ("I'm going to Lima. What would you recommend?", "request"),
        ("What are some good films?", "request"),
        ("Write a note to my landlord.", "request"),
        ("I slept badly again and the meeting was awful.", "message"),
    ],
)
def test_a_query_is_a_question_a_message_or_a_request(text: str, kind: str) -> None:
    assert read_question(text, policy=policy_with().recall, speakers=("Ana", "Ben"), asked_at=ASKED).kind == kind


PARTS = st.sampled_from(["a", "b", "A", " ", "'", "’", "s", "@", ".", "I", "my", "İ", "ı", "ſ", "ß", "É"])
NAMES = st.lists(PARTS, min_size=1, max_size=4).map("".join)


@given(st.lists(NAMES, max_size=5, unique=True), st.data())
def test_a_speaker_is_found_as_by_a_pattern_for_each(names: list[str], data: st.DataObject) -> None:
    text = "".join(data.draw(st.lists(PARTS | st.sampled_from([*names, "a"]), max_size=12)))

    def pattern(name: str, tail: str) -> re.Pattern[str]:
        return re.compile(rf"\b{re.escape(name)}{tail}", re.IGNORECASE)

    mentioned = tuple(name for name in names if pattern(name, r"\b").search(text))
    read = read_question(text, policy=policy_with().recall, speakers=[*names, "nobody"], asked_at=ASKED)
    assert read.mentioned == mentioned
    spoken = module.without_greeting(text)
    for name in names:
        spoken = pattern(name, r"\b").sub("I", pattern(name, r"['’]s?\b").sub("my", spoken))
    assert read.spoken == spoken


@pytest.mark.parametrize(
    ("question", "tried"), [("Which speaker said it? ", 0), (" ".join(f"Speaker {n}," for n in range(3000)), 100)]
)
def test_thousands_of_speakers_take_no_pattern_each(question: str, tried: int, monkeypatch: pytest.MonkeyPatch) -> None:
    named, made = module._named, list[str]()

    def counted(name: str, **how: Any) -> re.Pattern[str]:
        made.append(name)
        return named(name, **how)

    monkeypatch.setattr(module, "_named", counted)
    speakers = [f"Speaker {n}" for n in range(3000)]
    read = read_question(question, policy=policy_with().recall, speakers=speakers, asked_at=ASKED)
    assert read.spoken is read.spoken
    assert len(set(made)) <= tried
