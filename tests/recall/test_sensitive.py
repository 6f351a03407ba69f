"""A message does not bring up what is sensitive, unless it speaks of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from reverie.recall.places.sensitive import without_sensitive
from reverie.recall.result import Hit, Signal, Signals

WITHHELD = ("health", "religion")


def hit(content: str, similarity: float = 0.2) -> Any:
    signals = {"similarity": Signal(value=similarity, weight=1.0)}
    return Hit(
        item="memory", id=uuid4(), kind="fact", content=content, happened_at=datetime(2026, 1, 1, tzinfo=UTC),
        score=similarity, signals=signals, ranks={}, turn_id=None, session_id=None, importance=0.7,
    )  # fmt: skip


def reasons(contents: list[str], message: str, *, similarity: float = 0.2, among: int = 10) -> list[str | None]:
    candidates = [(hit(content, similarity), None) for content in contents]
    kept = without_sensitive(candidates, message, WITHHELD, near=0.4, among=among)
    return [reason for _, reason in kept]


def test_health_is_not_brought_up_by_small_talk() -> None:
    told = ["Takes 50 mg of sertraline", "Lives in Ghent", "Is allergic to walnuts"]
    assert reasons(told, "What a day, the sun is out!") == ["sensitive", None, None]
    assert reasons(told, "I saw my doctor at the clinic about the meds") == [None, None, None]
    assert reasons(told, "What a day, the sun is out!", similarity=0.5) == [None, None, None]


def test_without_similarity_it_is_not_brought_up_either() -> None:
    unmeasured = hit("Takes 50 mg of sertraline")._replace(signals=Signals([0.7], {"lexical": 0}, {"lexical": 1.0}))
    ((_, reason),) = without_sensitive([(unmeasured, None)], "What a day!", WITHHELD, near=0.4, among=10)
    assert reason == "sensitive"


def test_what_was_dropped_keeps_its_reason_and_what_nobody_looked_at_goes() -> None:
    candidates = [(hit("Has asthma"), "similarity"), (hit("Lives in Ghent"), None), (hit("Has asthma"), None)]
    kept = without_sensitive(candidates, "Nice weather", WITHHELD, near=0.4, among=1)
    assert [reason for _, reason in kept] == ["similarity", None, "sensitive"]
