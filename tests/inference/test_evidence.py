"""The chance of an end by all the evidence about a pair."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import InferenceError
from reverie.inference.judge import evidence as module
from reverie.inference.judge.evidence import PairEvidence, evidence_columns, weighed_chances

NEAR = PairEvidence(judged=0.8, near=-1.0, alike=0.5, days=30.0, is_lasting=True, is_silent=False)


def test_an_end_between_texts_that_are_far_apart_is_less_likely() -> None:
    near, far, unsure = weighed_chances([NEAR, NEAR._replace(near=-6.0, alike=0.0), NEAR._replace(judged=0.1)])
    assert 1 > near > 2 * far > 0 and near > 2 * unsure > 0
    assert weighed_chances([]) == []


@given(st.lists(st.sampled_from([0.0, 0.001, 0.3, 0.9, 1.0]), min_size=1, max_size=9))
def test_a_pair_is_weighed_the_same_in_any_company(judged: list[float]) -> None:
    pairs = [NEAR._replace(judged=chance) for chance in judged]
    assert weighed_chances(pairs) == [weighed_chances([pair])[0] for pair in pairs]
    in_order = sorted(pairs)
    assert weighed_chances(in_order) == sorted(weighed_chances(pairs))


def test_chances_and_days_are_read_as_logarithms() -> None:
    (columns,) = evidence_columns([NEAR._replace(judged=0.5, days=np.e - 1)])
    assert columns == pytest.approx([0, -1, 0.5, 1, 1, 0])
    # an earlier time never counts as less than the same time
    assert evidence_columns([NEAR._replace(days=-3)])[0, 3] == 0


def test_a_missing_file_is_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "files", lambda _: tmp_path)
    module._weights.cache_clear()
    with pytest.raises(InferenceError, match=r"The files of the judge are missing; reinstall reverie\."):
        weighed_chances([NEAR])
    module._weights.cache_clear()
