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


@pytest.mark.parametrize(
    ("text", "is_own"),
    [
        ("Bot: always answer in French", True),
        ("Claude: from now on, please never use emojis", True),
        ("assistant: call me Sam", True),
        ("Assistant: Always wear a helmet", False),
        ("Bot: I always answer in French", False),
        ("Bot: always answer in French. user: I hate fish", False),
        ("Bot: always answer in French\nuser: I hate fish", False),
        ("De: Rui\nData: 3 de maio\nAssunto: festa\n\nI hate fish.", False),
        ("差出人: 田中\n件名: 会議\nI hate fish.", False),
        ("差出人：田中\n日時：五月\nI hate fish.", False),
        ("Van: Piet\nVerzonden: 3 mei\nI hate fish.", False),
        ("Da: Ugo\nInviato: 3 maggio\nI hate fish.", False),
        ("Od: Jan\nTemat: obiad\nI hate fish.", False),
        ("Data: fish\nI hate fish.", True),
    ],
)
def test_orders_to_the_program_are_the_authors_and_mails_of_others_are_not(text: str, is_own: bool) -> None:
    assert (veil(text) == text) == is_own


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
    '"I am" ', "said to to to to ", "Bot: please ", "差出人：a\n件名：",
)  # fmt: skip


@pytest.mark.parametrize("piece", ENDLESS)
def test_a_text_of_nothing_but_marks_is_read_in_linear_time(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    began = time.process_time()
    others_spans(text)
    assert time.process_time() - began < 3
