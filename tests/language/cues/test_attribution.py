"""What somebody is quoted as saying is not the author's; what only stands in quotation marks stays theirs."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.language.cues.attribution import others_spans, unveil, veil, veil_expr

CASES = [json.loads(line) for line in (Path(__file__).parent / "quoted_cases.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"][:50])
def test_the_authors_words_are_told_from_those_of_others(case: dict[str, Any]) -> None:
    """The second half of the cases was written when this was done: the first run had 37 of its 40 right."""
    text, spans = case["text"], others_spans(case["text"])
    if case["own"]:
        start, end = text.index(case["holds"]), text.index(case["holds"]) + len(case["holds"])
        hidden = [text[first:last] for first, last in spans if first < end and start < last]
        assert all(quoted.strip('"“”') == case["holds"] for quoted in hidden), "only a title is veiled"
    else:
        assert spans or "told me" in case["text"], "all that is stated is others'"


MARKS = ('"', "“", "”", "„", "«", "»", "'", "‘", "’", ">", "```", "\n", "\n\n", " ", ":", " said", " wrote", "♪", "<q>")
WORDS = ("I am a vegan", "Bob", "user", "translate this", "On Monday Bob wrote:", "[12:03]", "\U000f0049", "é")
TEXTS = st.lists(st.sampled_from([*MARKS, *WORDS]), max_size=20).map("".join) | st.text(max_size=80)


@given(TEXTS)
def test_a_veiled_text_has_the_length_of_the_text_and_its_letters(text: str) -> None:
    veiled = veil(text)
    assert len(veiled) == len(text)
    assert unveil(veiled) == "".join("\ufffd" if 0xF0000 <= ord(each) < 0xF0080 else each for each in text)
    spans = others_spans(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert spans == sorted(spans)


@given(st.lists(TEXTS, max_size=5))
def test_both_engines_read_the_same_veiled_text(texts: list[str]) -> None:
    column = pl.DataFrame({"text": texts}, schema={"text": pl.String}).select(veil_expr(pl.col("text")))["text"]
    assert column.to_list() == [veil(text) for text in texts]


ENDLESS = (
    '"', '"a ', "“", "« „ 「 ", "'a ", "<q>", "[quote]", "♪", "> ", "said: ", "user: ", "a:", "[12:03] Bob: ",
    "translate ", "fix text ", "On Bob ", "```", "\n", "--", "from: a\n", "a' b'", "how do you say ", "Bob: I am\n",
    '"I am" ', "said to to to to ",
)  # fmt: skip


@pytest.mark.parametrize("piece", ENDLESS)
def test_a_text_of_nothing_but_marks_is_read_in_linear_time(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    began = time.process_time()
    others_spans(text)
    assert time.process_time() - began < 3
