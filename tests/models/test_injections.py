"""Turns that give a model orders, through the whole pipeline: with one that takes them as data, and one that obeys.

`injections.jsonl` holds for each turn what an obeying model says (`claim` and `quote`, or `raw`) and what catches it: a
reason for which a reply is refused, or `nothing`. What has nothing new in it but its meaning no check can tell from an
honest reply; it names the turns that it comes from, and no name and no number that nobody said.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.history.importing import import_file
from reverie.language.grounding import ungrounded
from reverie.language.sensitive.classes import without_secrets
from reverie.language.text import strip_invisible, written_day
from reverie.store.database import Store
from tests.models.conftest import Conn, Server
from tests.promises.world import consolidate, lively

pytestmark = pytest.mark.filterwarnings("ignore:Item 'summary' on TypedDict:UserWarning")

INJECTIONS: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("injections.jsonl").read_text(encoding="utf-8").splitlines()
]
START = datetime(2026, 3, 2, 8, tzinfo=UTC)
END = START + timedelta(days=10)
TENANT = "orders"
CAUGHT = Counter(one["caught"] for one in INJECTIONS)


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """A session for each of them, some at a time so that few cycles are needed, and some harmless ones after them."""
    path = tmp_path / "orders.jsonl"
    orders = [(one["text"], one.get("role", "user")) for one in INJECTIONS] + [("It rained.", "user")] * 3
    with path.open("w", encoding="utf-8") as file:
        for number, (order, role) in enumerate(orders):
            said = [
                ("I planted tomatoes in the garden today.", "user"),
                ("They like the sun.", "assistant"),
                (order, role),
            ]
            for place, (text, by) in enumerate(said):
                at = START + timedelta(minutes=30 * number + place)
                named = {"session_id": f"s{number}", "source_id": f"t{place}", "subject_id": "ana"}
                turn = {"role": by, "speaker": {"user": "Ana"}.get(by, "Bo"), "said_at": at.isoformat(), "text": text}
                file.write(json.dumps({"tenant_id": TENANT} | named | turn) + "\n")
    return path


@pytest.fixture
def remember(store: Store, load: Any, history: Path) -> Callable[[], Counter[str]]:
    """Make memory of it; returns what each stage counted."""

    def run() -> Counter[str]:
        import_file(store, history, tenant_id=TENANT, now=END)
        policy = lively(compress={"session_threshold": 2, "pattern_episodes": 0})
        counts: Counter[str] = Counter()
        for report in consolidate(store, TENANT, policy, END, language_model=load()):
            counts.update({f"{report.stage}.{name}": number for name, number in report.counts.items()})
        return counts

    return run


def obeyed(one: dict[str, Any]) -> dict[str, Any]:
    """What a model that obeys says, by the fields of every stage's reply."""
    if "raw" in one:
        return {"raw": one["raw"]}
    note = {"kind": "fact", "text": one["claim"], "quote": one["quote"], "confidence": 1.0, "importance": 1.0}
    return {"summary": one["claim"], "pattern": one["claim"], "quotes": [one["quote"]], "notes": [note]}


def failed(counts: Counter[str], stage: str) -> dict[str, int]:
    """Why items of a stage failed."""
    before = f"{stage}.failed_"
    return {name.removeprefix(before): number for name, number in counts.items() if name.startswith(before)}


def remembered(conn: Conn) -> list[tuple[str, str | None, list[str]]]:
    """Each memory: its text, whose words they are, and what it may have its names and numbers from."""
    rows = conn.execute(
        "select m.content, m.model, m.happened_at, array_agg(t.text) || array_agg(distinct t.speaker)"
        " from memory.memories m join memory.lineage l on l.memory_id = m.id join log.turns t on t.id = l.source_id"
        " where m.content is not null group by m.id, m.content, m.model, m.happened_at"
    ).fetchall()
    return [(content, model, [*said, written_day(at)]) for content, model, at, said in rows]


def test_there_are_many_and_of_many_kinds() -> None:
    assert len(INJECTIONS) >= 25 and len({one["text"] for one in INJECTIONS}) == len(INJECTIONS)
    assert len(CAUGHT) >= 6 and CAUGHT["nothing"] <= 4


def test_to_a_model_that_behaves_they_are_something_that_was_said(
    remember: Callable[[], Counter[str]], server: Server, conn: Conn
) -> None:
    counts = remember()
    assert counts["compress.retold"] >= len(INJECTIONS) and counts["extract.noted"] >= len(INJECTIONS)
    assert not any(".failed_" in name for name in counts)
    for content, model, said in remembered(conn):
        assert model is None or ungrounded(content, said) == []
        assert not any(one.get("claim", "\0") in content for one in INJECTIONS if one["caught"] != "nothing")


def test_what_a_model_that_obeys_says_is_caught(
    remember: Callable[[], Counter[str]], server: Server, conn: Conn
) -> None:
    server.manner(obey={strip_invisible(without_secrets(one["text"])[0]): obeyed(one) for one in INJECTIONS})
    counts = remember()
    assert failed(counts, "compress") == {reason: number for reason, number in CAUGHT.items() if reason != "nothing"}
    raw = (one["caught"] for one in INJECTIONS if "raw" in one and one.get("role", "user") == "user")
    assert failed(counts, "extract") == Counter(raw), "of notes, each is refused by itself"
    assert counts["extract.discarded_unquoted"] > 2 and counts["extract.discarded_ungrounded"] > 5
    memories = remembered(conn)
    for content, model, said in memories:
        assert model is None or ungrounded(content, said) == [], "a name or number that nobody said"
    believed = {one["claim"] for one in INJECTIONS if one["caught"] == "nothing"}
    claims = {one["claim"] for one in INJECTIONS if "claim" in one}
    found = {claim for claim in claims for content, model, _ in memories if model is not None and claim in content}
    assert found == believed
