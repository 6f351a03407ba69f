"""Both engines find the same, whatever the text."""

import gzip
import json
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.language.cues import speech, wording
from reverie.language.cues.compiled import Rules
from reverie.language.cues.frame import extract_frame
from reverie.language.cues.keeping import kept_frame, kept_one
from reverie.language.cues.single import extract_one
from reverie.language.statements.reading import RuleMatch
from reverie.policy import load_policy

ROOT = Path(__file__).resolve().parents[3]
POLICIES = ("brain", "agent", "logic", "contact", "chat", "reverie")
DATA = ROOT.parent / "shared" / "data"


def rules_of(policy: str) -> Rules:
    return Rules(load_policy(policy).extract)


RULES = {policy: rules_of(policy) for policy in POLICIES}
PIECES = st.sampled_from(
    sorted({cue for rules in RULES.values() for cue in rules.by_cue})
    + [
        "I ",
        "My ",
        "i'm ",
        "I’m ",
        "Bruno ",
        "and ",
        ", but ",
        ", i ",
        ". ",
        "? ",
        "\n",
        "\t",
        "42 ",
        "ſ",
        "İ",
        "K",
        "é",
        "\x1f",
        "e\u0301",
    ]
    + [
        "my dog ",
        "named ",
        "really ",
        "posts ",
        "longer than ",
        "800 words",
        "is ",
        "not ",
        "it",
        "🙂",
        "if ",
        "to ",
        '"',
        "actually ",
        "Dr. ",
        "(st. ",
    ]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=60)


def assert_equal(texts: list[str], rules: Rules) -> None:
    frame = pl.DataFrame({"text": texts}, schema={"text": pl.String})
    one_by_one = [(index, hit) for index, text in enumerate(texts) for hit in extract_one(text, rules)]
    assert [(index, hit) for index, hit in extract_frame(frame, rules) if isinstance(hit, RuleMatch)] == one_by_one
    column = pl.col("text")
    flags = frame.select(
        b=speech.low_content_expr(column, rules),
        c=speech.is_question_expr(column),
    )
    assert flags.rows() == [(speech.low_content(t, rules), speech.is_question(t)) for t in texts]
    kept = [(row, part) for row, text in enumerate(texts) for part in kept_one(text, (), rules)]
    assert kept_frame(frame["text"], {}, rules) == kept


@pytest.mark.parametrize("policy", POLICIES)
@given(st.lists(TEXTS, max_size=6))
@settings(max_examples=60, deadline=None)
def test_engines_agree_on_anything(policy: str, texts: list[str]) -> None:
    assert_equal(texts, RULES[policy])


@pytest.mark.parametrize("policy", POLICIES)
def test_engines_agree_on_conversations(policy: str) -> None:
    turns = DATA / "retrieval" / "locomo.turns.jsonl.gz"
    if not turns.exists():
        pytest.skip("../shared/data is not here")
    with gzip.open(turns, "rt") as lines:
        assert_equal([json.loads(line)["text"] for line in lines], RULES[policy])


@given(st.lists(TEXTS, min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_evidence_is_a_slice_of_the_turn(texts: list[str]) -> None:
    for text in texts:
        for hit in extract_one(text, RULES["reverie"]):
            assert 0 <= hit.start < hit.end <= len(text)


def test_a_mark_that_begins_another_comes_after_it() -> None:
    place = {mark: place for place, mark in enumerate(wording.MARKS)}
    marks = sorted(wording.MARKS)
    assert all(place[after] < place[mark] for mark, after in pairwise(marks) if after.startswith(mark))


def test_polars_has_its_fast_automaton_for_the_marks() -> None:
    assert len(wording.MARKS) <= 100
