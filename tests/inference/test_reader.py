"""The reader: what it reads, and that this depends on the message alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.inference.reader import AskedMessage, shared_reader
from reverie.inference.reader.reader import TrainedReader

WORDS = st.sampled_from(
    [
        "my",
        "sister",
        "Ann",
        "lives",
        "in",
        "Leeds",
        "and",
        "I",
        "work",
        "at",
        "Ikea",
        ",",
        "don't",
        "use",
        "emojis",
        "please",
        "!",
        "haha",
        "34",
        "we",
        "moved",
        "to",
        "Bergen",
    ]
)
MESSAGES = st.lists(WORDS, min_size=1, max_size=25).map(" ".join)


@settings(max_examples=15, deadline=None)
@given(st.lists(MESSAGES, min_size=1, max_size=12))
def test_a_message_is_read_the_same_alone_and_among_others_on_any_threads(messages: list[str]) -> None:
    together = TrainedReader(threads=2).read([AskedMessage(each) for each in messages])
    reader = shared_reader(1)
    assert together == [reader.read([AskedMessage(each)])[0] for each in messages]


@pytest.mark.parametrize(
    ("text", "relation", "said"),
    [
        ("my sister Ann lives in Leeds", "lives_in", "Leeds"),
        ("I'm allergic to peanuts", "allergic_to", "peanuts"),
        ("My son राजू lives in Pune", "has_child", "राजू"),
        ("I have a son Jose\u0301.", "has_child", "Jose\u0301"),
        ("Workshop rate is 65 an hour.", "measure", "65 an hour"),
        ("Don't use emojis in the newsletter, my customers hate them.", "standing_rule", "Don't use emojis"),
    ],
)
def test_it_reads_what_people_tell(text: str, relation: str, said: str) -> None:
    readings = shared_reader(2).read([AskedMessage(text)])[0].readings
    assert [text[each.object.start : each.object.end] for each in readings if each.relation == relation] != []
    assert any(said in text[each.object.start : each.object.end] for each in readings if each.relation == relation)


@pytest.mark.parametrize("text", ["lol ok", "Write a haiku about rain", "my phone is at 3 %", ""])
def test_it_reads_nothing_in_chatter(text: str) -> None:
    (found,) = shared_reader(2).read([AskedMessage(text)])
    assert found.readings == []
    assert found.states < 0.5


def test_a_long_text_is_read_in_parts() -> None:
    text = "We drank tea and watched the rain for a while. " * 20 + "I'm allergic to peanuts."
    readings = shared_reader(2).read([AskedMessage(text)])[0].readings
    assert "peanuts" in [text[each.object.start : each.object.end] for each in readings]


def test_of_a_long_reply_before_a_message_the_end_is_read() -> None:
    before = "I can look for a restaurant near the station, with a table for four by the window. " * 6
    asked = [AskedMessage("peanuts", before + "What are you allergic to?"), AskedMessage("peanuts", before)]
    found = [
        [(each.relation, each.object.of_question) for each in one.readings if each.confidence > 0.5]
        for one in shared_reader(2).read(asked)
    ]
    assert found == [[("allergic_to", False)], []]
