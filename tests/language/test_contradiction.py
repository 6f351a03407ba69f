"""Guards of merge on pairs written by hand: near in wording, the same or not the same.

The others were written before the guards, which were then mended until they judged them well. `blind` pairs were
written after that: at first sight 21 of 22 merges were right at 0.90 and at 0.92, and no near duplicate was kept apart.
What they showed (who helps whom, on and off, dislikes, young and little) is mended since, so they are blind no more.
"""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.inference import load_embedder
from reverie.language.contradiction import contradiction, specificity

PAIRS = [json.loads(line) for line in (Path(__file__).parent / "merge_pairs.jsonl").read_text().splitlines()]


def _share(part: int, whole: int) -> float:
    return part / max(whole, 1)


def test_guards_alone_are_precise() -> None:
    """Of all pairs that no guard keeps apart, near or not, nearly all may be merged."""
    free = [pair for pair in PAIRS if contradiction(pair["a"], pair["b"]) is None]
    assert _share(sum(pair["merge"] for pair in free), len(free)) >= 0.98
    assert _share(sum(pair["merge"] for pair in free), sum(pair["merge"] for pair in PAIRS)) >= 0.95


@pytest.mark.parametrize("threshold", [0.90, 0.92])
def test_merging_is_precise(threshold: float) -> None:
    embedder = load_embedder("minilm")
    texts = sorted({pair[side] for pair in PAIRS for side in "ab"})
    vectors = dict(zip(texts, embedder.encode(texts), strict=True))
    near = [pair for pair in PAIRS if float(vectors[pair["a"]] @ vectors[pair["b"]]) > threshold]
    merged = [pair for pair in near if contradiction(pair["a"], pair["b"]) is None]
    assert _share(sum(pair["merge"] for pair in near), len(near)) < 0.5, "without guards most are wrong"
    assert _share(sum(pair["merge"] for pair in merged), len(merged)) >= 0.95
    # the guards cost next to nothing: what is lost beyond this is further apart than the threshold
    assert _share(sum(pair["merge"] for pair in merged), sum(pair["merge"] for pair in near)) >= 0.95


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("Loves working late", "Can't stand working late", "polarity"),
        ("Drinks coffee", "No longer drinks coffee", "polarity"),
        ("Likes tea but not coffee", "Likes coffee but not tea", "polarity"),
        ("Prefers posts under 800 words", "Prefers posts under 1200 words", "number"),
        ("Weighs 72 kg", "Weighs 72 pounds", "number"),
        ("Meets on Monday", "Meets on Friday", "value"),
        ("My brother lives here", "My sister lives here", "value"),
        ("Likes Python", "Likes Java", "name"),
        ("Works at Infosys", "Works at Zoho", "name"),
        ("I owe my brother money", "My brother owes me money", "role"),
        ("Does not eat meat", "Doesn't eat meat", None),
        ("Doesn't like crowds", "Dislikes crowds", None),
        ("Doesn't avoid crowds", "Likes crowds", None),
        ("Has two kids", "Has 2 children", None),
        ("Budget is $1,500", "Budget is 1500 dollars", None),
        ("Prefers short posts", "Prefers posts under 800 words", None),
        ("Works at Infosys", "Works at Infosys in Pune", None),
        ("", "?!", None),
    ],
)
def test_each_guard(one: str, other: str, reason: str | None) -> None:
    assert contradiction(one, other) == reason


def test_the_more_specific_says_more() -> None:
    assert specificity("Prefers blog posts under 800 words") > specificity("User prefers short blog posts")
    assert specificity("Has a golden retriever named Bruno") > specificity("Has a dog named Bruno")
    assert specificity("Has a brother named Karan in Pune") > specificity("Has a brother in Pune")


@given(st.text(), st.text())
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert contradiction(one, other) == contradiction(other, one)
    assert contradiction(one, one) is None
    assert specificity(one) >= 0
