"""Stems, the same from any thread."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from reverie.language.stemming import stem_of, stems_of

WORDS = ["generations", "running", "relational", "happiness", "studies", "flying"] * 400


@pytest.fixture
def switching() -> Iterator[None]:
    """Threads take turns as often as they can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def test_words_have_one_stem() -> None:
    assert stems_of(["walks", "walked", "walking"]) == ["walk"] * 3
    assert (stem_of("maisons", "french"), stem_of("houses")) == ("maison", "hous")


@pytest.mark.usefixtures("switching")
def test_threads_do_not_disturb_each_other() -> None:
    expected = [stem_of(word) for word in WORDS]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: [stem_of(word) for word in WORDS], range(8)))
    assert found == [expected] * 8
