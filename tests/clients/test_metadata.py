"""Metadata of agent frameworks as the server accepts it."""

from __future__ import annotations

from typing import get_args

import pytest

from reverie.capture.live.observations import Category
from reverie.recall.filters import CONTEXT_TYPES, SOURCES
from reverie_client.metadata import ObservationCategory, category_of, storable_metadata


@pytest.mark.parametrize(("name", "known"), [("source", SOURCES), ("context_type", CONTEXT_TYPES)])
def test_values_that_the_server_would_refuse_have_another_key(name: str, known: tuple[str, ...]) -> None:
    for value in (*known, None):
        assert storable_metadata({name: value}) == {name: value}
    assert storable_metadata({name: "crm", "page": 3}) == {f"custom_{name}": "crm", "page": 3}
    assert storable_metadata({name: ["crm"]}) == {f"custom_{name}": ["crm"]}
    assert storable_metadata({}) is storable_metadata(None) is None


def test_an_unknown_category_is_a_fact() -> None:
    assert get_args(ObservationCategory) == get_args(Category)
    assert category_of({"category": "preference", "page": 3}) == ("preference", {"page": 3})
    assert category_of({"page": 3}) == ("fact", {"page": 3})
    assert category_of({"category": "hobby"}) == ("fact", {"category": "hobby"})
