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

from reverie.language.cues import extract_one
from reverie.language.cues.attribution import others_spans, unveil, veil, veil_expr
from reverie.language.cues.immediate import compiled
from reverie.policy import load_policy

CASES = [json.loads(line) for line in (Path(__file__).parent / "quoted_cases.jsonl").read_text("utf-8").splitlines()]
RULES = compiled(load_policy("reverie"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"][:50])
def test_only_the_authors_statements_are_found(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    """The second half of the cases was written when the rules were done: the first run had 37 of its 40 right."""
    if gap := case.get("gap"):
        request.applymarker(pytest.mark.xfail(reason=gap, strict=True))
    found = [hit.content for hit in extract_one(case["text"], RULES)]
    if case["own"]:
        assert any(case["holds"] in content for content in found), found
    else:
        assert found == []


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
