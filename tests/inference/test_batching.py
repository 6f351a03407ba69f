"""Every text goes through the model once, among texts of its own length."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.inference.batching import equal_length_batches


@given(st.lists(st.integers(1, 256)), st.integers(1, 2048))
def test_batches(lengths: list[int], token_budget: int) -> None:
    batches = equal_length_batches(lengths, token_budget=token_budget)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        (length,) = {lengths[index] for index in batch}
        assert len(batch) == 1 or len(batch) * length <= token_budget
    assert [lengths[batch[0]] for batch in batches] == sorted((lengths[batch[0]] for batch in batches), reverse=True)
