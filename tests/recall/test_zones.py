"""Days of memories are those of the place where the subject was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.recall.contexts.context import assemble_context
from reverie.recall.profile import load_profile
from reverie.recall.query import RecallQuery
from reverie.recall.signals.zones import Zones
from reverie.store.database import Store
from reverie.store.session import perform
from reverie.store.work import Work
from reverie.testing import WordEmbedder

#: Friday the 13th in Auckland, and the evening of that day in Honolulu.
MORNING = datetime(2026, 3, 12, 20, 0, tzinfo=UTC)
EVENING = datetime(2026, 3, 21, 7, 0, tzinfo=UTC)


def test_a_day_is_in_the_zone_named_last() -> None:
    zones = Zones(usual="UTC", named=((date(2026, 3, 12), "Pacific/Auckland"), (date(2026, 3, 21), "Pacific/Honolulu")))
    days = {at: zones.local(at).date() for at in (MORNING, EVENING, MORNING - timedelta(days=30))}
    assert days == {
        MORNING: date(2026, 3, 13),
        EVENING: date(2026, 3, 20),
        MORNING - timedelta(days=30): date(2026, 2, 10),
    }


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    with Store.open(database_url) as opened:
        yield opened


@pytest.mark.parametrize("name", ["reverie", "logic"])
def test_a_context_tells_the_subjects_days(store: Store, tmp_path: Path, name: str) -> None:
    said = [
        (MORNING, "I had lunch with my old boss Moana today.", "Pacific/Auckland"),
        (EVENING, "I fell off my bike on the way home tonight.", "Pacific/Honolulu"),
        (EVENING + timedelta(days=1), "My knee hurts.", "Nowhere/Land"),
    ]
    path = tmp_path / "said.jsonl"
    path.write_text(
        "".join(
            json.dumps(
                {
                    "subject_id": "ana",
                    "session_id": f"{at:%d}",
                    "role": "user",
                    "said_at": at.isoformat(),
                    "text": text,
                    "metadata": {"timezone": zone},
                }
            )
            + "\n"
            for at, text, zone in said
        ),
        encoding="utf-8",
    )
    now, policy, embedder = EVENING + timedelta(days=5), load_policy(name), WordEmbedder()
    import_file(store, path, tenant_id="t", now=now)
    work = Work(store=store, scope=Scope(tenant_id="t"), policy=policy, as_of=now, embedder=embedder)
    for _ in (*ingest(work), *catch_up(work)):
        pass
    session = store.session("t")
    query = RecallQuery(subject_id="ana", text="Did anything happen with Moana or my bike?", as_of=now)
    told = perform(assemble_context(session, query, policy=policy, embedder=embedder)).text
    assert "2026-03-13: I had lunch" in told
    assert "2026-03-20: I fell off" in told
    profile = perform(load_profile(session, subject_id="ana", policy=policy, as_of=now))
    assert "2026-03-20, I fell off" in profile.narrative(50)
    earlier = perform(load_profile(session, subject_id="ana", policy=policy, as_of=MORNING + timedelta(days=1)))
    assert earlier.zones.named == ((date(2026, 3, 12), "Pacific/Auckland"),)
