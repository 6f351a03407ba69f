"""A candidate ends by its words or by its class."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from reverie.consolidate.retention import with_retention
from reverie.model import Candidate, Proposition

SAID = datetime(2026, 1, 5, 12, tzinfo=UTC)


def candidate(content: str, **more: Any) -> Candidate:
    given = {"kind": "fact", "lasting": True, "origin": "reader"} | more
    return Candidate(id=uuid4(), subject_id="ana", content=content, importance=0.7, happened_at=SAID, **given)


def test_until_a_day_is_until_its_end() -> None:
    kept = with_retention(candidate("I'm on holiday until 20 January 2026."), {})
    assert kept.expires_at == datetime(2026, 1, 21, tzinfo=UTC) and not kept.lasting
    assert with_retention(candidate("I lived in Ghent until 2019."), {}).lasting
    episode = candidate("I'm on holiday until 20 January 2026.", kind="episode")
    assert with_retention(episode, {}) is episode
    ended = Proposition(relation="lives_in", object="Ghent", phase="ends")
    assert with_retention(candidate("Left Ghent, until May", statement=ended), {}).expires_at is None


def test_the_shortest_retention_of_its_classes_counts() -> None:
    days = {"health": 300.0, "third_parties": 90.0}
    assert with_retention(candidate("My sister has depression"), days).expires_at == SAID + timedelta(days=90)
    assert with_retention(candidate("I have asthma"), days).expires_at == SAID + timedelta(days=300)
    plain = candidate("I live in Ghent")
    assert with_retention(plain, days) is plain
