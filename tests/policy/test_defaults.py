"""Defaults of policies that are words of a language."""

from __future__ import annotations

import re

from reverie.policy.defaults import language_defaults
from reverie.policy.extract import SaliencePolicy
from reverie.policy.recall import RecallPolicy


def test_recall_asks_for_the_present_by_the_words_of_the_pack() -> None:
    pattern = RecallPolicy().asks_present
    assert pattern == language_defaults("recall")["asks_present"]
    assert re.search(pattern, "Where does she live?")
    assert not re.search(pattern, "Where did she live?")


def test_signals_of_a_preference_come_from_the_pack() -> None:
    assert SaliencePolicy().signals == tuple(language_defaults("extract")["signals"])


def test_a_caller_cannot_change_the_defaults() -> None:
    language_defaults("recall").clear()
    assert "requests" in language_defaults("recall")
