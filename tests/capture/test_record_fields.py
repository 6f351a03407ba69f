"""Words for values never quote them."""

from __future__ import annotations

import pytest

from reverie.capture.record_fields import kind_of, require_subject
from reverie.errors import InputError


def test_kinds() -> None:
    assert [kind_of(value) for value in (True, "ab", 2, {}, [])] == [
        "a truth value",
        "a text of 2 characters",
        "a number",
        "an object",
        "a list",
    ]


def test_a_subject_is_an_id() -> None:
    require_subject("ana")
    with pytest.raises(InputError, match="1 to 200"):
        require_subject(" ")
