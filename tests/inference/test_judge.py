"""The judge: what it takes for ended, and that this depends on the pair alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.errors import InferenceError
from reverie.inference.judge import EndPair, shared_judge
from reverie.inference.judge import judge as module
from reverie.inference.judge.judge import TrainedJudge
from reverie.policy import load_policy

STATEMENTS = st.sampled_from(
    ["Works with Danny", "Lives in Leeds", "we charge 45 for a walk, 60 with two dogs", "Plan: see Ann (Friday)"]
)
MESSAGES = st.sampled_from(
    ["Danny's jacked it in", "we moved to Bergen!", "walks are 50 from March", "not any more", "how do I fry an egg?"]
)
PAIRS = st.builds(EndPair, STATEMENTS, MESSAGES, st.sampled_from(["", "still seeing Ann on Friday?"]))


@settings(max_examples=15, deadline=None)
@given(st.lists(PAIRS, min_size=1, max_size=12))
def test_a_pair_is_judged_the_same_alone_and_among_others_on_any_threads(pairs: list[EndPair]) -> None:
    judge = shared_judge(1)
    assert TrainedJudge(threads=2).chances(pairs) == [judge.chances([pair])[0] for pair in pairs]


@pytest.mark.parametrize(
    ("statement", "ends", "stays"),
    [
        ("Danny works for me.", "Danny left us in spring", "Zoe left us in spring"),
        ("Car: Skoda Octavia", "sold the skoda, got a bike instead", "thinking of selling the skoda"),
        ("Likes squash", "can't stand squash any more", "squash soup again, lovely"),
        ("Workshop rate: 65 an hour", "we've put the workshop rate up to 72", "should i ask for a higher rate?"),
        (
            "i've got spin class on thursdays at 7",
            "packed in spin, my knees won't have it",
            "should i get new shoes for spin?",
        ),
    ],
)
def test_what_ends_a_statement_and_what_does_not(statement: str, ends: str, stays: str) -> None:
    ended, stayed = shared_judge().chances([EndPair(statement, ends), EndPair(statement, stays)])
    assert ended > 0.5 > 0.4 > stayed


def test_a_short_reply_is_judged_with_what_it_answers() -> None:
    judge = shared_judge()
    asked = "Do you still take the metformin?"
    ended, other = judge.chances([EndPair("Takes metformin", "not any more", before) for before in (asked, "A sweet?")])
    assert ended > load_policy("reverie").structured_facts.ends_chance > 0.6 > other
    assert judge.chances([]) == []


def test_a_message_of_no_visible_letter_ends_nothing() -> None:
    assert shared_judge().chances([EndPair("Takes metformin", "")])[0] < 0.5


def test_missing_files_are_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "files", lambda _: tmp_path)
    with pytest.raises(InferenceError, match=r"The files of the judge are missing; reinstall reverie\."):
        TrainedJudge()


def test_what_was_read_in_an_earlier_call_is_judged_the_same() -> None:
    pairs = [EndPair("Works with Danny", "Danny's jacked it in"), EndPair("Lives in Leeds", "Danny's jacked it in")]
    judge, first = TrainedJudge(threads=1), TrainedJudge(threads=1).chances(pairs)
    assert [judge.chances(pairs[:1]), judge.chances(pairs), judge.chances(pairs[::-1])] == [
        first[:1], first, first[::-1]
    ]  # fmt: skip
