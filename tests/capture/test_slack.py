"""Slack's export: channels, threads and days become sessions."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.history.importing import FileOptions, ImportSummary, import_file
from reverie.capture.history.redrive import redrive_dead_letters
from reverie.drive.erase.erasing import Eraser
from reverie.drive.erase.targets import session_target
from reverie.policy import load_policy
from reverie.store.database import Store
from tests.capture.conftest import NOW, TENANT

Rows = Callable[[], list[tuple[Any, ...]]]


def load(store: Store, path: Path, **options: Any) -> ImportSummary:
    return import_file(store, path, FileOptions(**options), tenant_id=TENANT, now=NOW)


def said(turns: Rows) -> list[tuple[Any, ...]]:
    """Subject, session, role, speaker and text of each turn."""
    return [(row[2], row[3], row[6], row[7], row[9]) for row in turns()]


SLACK: dict[str, Any] = {
    "users.json": [
        {"id": "U1", "name": "ana", "profile": {"display_name": "Ana"}},
        {"id": "U2", "name": "helper", "is_bot": True, "profile": {"real_name": "Helper"}},
    ],
    "channels.json": [{"id": "C1", "name": "general", "members": ["U1", "U2"]}],
    "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
    "general/2026-03-01.json": [
        {"type": "message", "subtype": "channel_join", "user": "U1", "text": "<@U1> joined", "ts": "1772352000.000100"},
        {"type": "message", "user": "U1", "text": "<@U2> is 5 &lt; 6? See <https://a.b|this>", "ts": "1772352001.0001"},
        {"type": "message", "user": "U2", "text": "Yes.", "ts": "1772352060.0002", "thread_ts": "1772352001.0001"},
        {"type": "message", "user": "U1", "text": "", "files": [{}], "ts": "1772352061.0002"},
        {"type": "message", "user": "U1", "text": "Lost.", "ts": "never"},
    ],
    "D1/2026-03-02.json": [{"type": "message", "user": "U1", "text": "I like tea.", "ts": "1772438400.000100"}],
}


def write_export(path: Path, messages: list[dict[str, Any]]) -> Path:
    (path / "general").mkdir(parents=True)
    (path / "general/2026-03-01.json").write_text(json.dumps(messages))
    return path


ASKED = {"type": "message", "user": "U1", "text": "Who has the key?", "ts": "1772352001.0001"}
REPLIED = [
    ASKED | {"thread_ts": ASKED["ts"], "reply_count": 1},
    {"type": "message", "user": "U3", "text": "I do.", "ts": "1772352060.0002", "thread_ts": ASKED["ts"]},
]


@pytest.mark.parametrize("replied_first", [False, True])
def test_a_message_that_begins_a_thread_later_is_stored_once(
    store: Store, tmp_path: Path, turns: Rows, replied_first: bool
) -> None:
    exports = [write_export(tmp_path / "monday", [ASKED]), write_export(tmp_path / "tuesday", REPLIED)]
    counts = []
    for path in reversed(exports) if replied_first else exports:
        found = load(store, path)
        counts.append((found.imported, found.repeated, found.dead))
    assert counts == ([(2, 0, 0), (0, 1, 0)] if replied_first else [(1, 0, 0), (1, 1, 0)])
    asked_in = f"general/{ASKED['ts'] if replied_first else '2026-03-01'}"
    assert sorted((row[3], row[9]) for row in turns()) == sorted(
        [(asked_in, "Who has the key?"), (f"general/{ASKED['ts']}", "I do.")]
    )


def test_an_erased_message_stays_erased_when_it_begins_a_thread(store: Store, tmp_path: Path, turns: Rows) -> None:
    load(store, write_export(tmp_path / "monday", [ASKED]))
    eraser = Eraser(store=store, tenant_id=TENANT, policy=load_policy("reverie"), count_tokens=len, at=NOW)
    eraser.erase(session_target("general", "general/2026-03-01"))
    found = load(store, write_export(tmp_path / "tuesday", REPLIED))
    assert (found.imported, found.dead_by_reason) == (1, {"erased": 1})
    assert [row[9] for row in turns()] == ["I do."]


@pytest.mark.parametrize("packed", [False, True])
def test_slack(store: Store, tmp_path: Path, turns: Rows, letters: Rows, packed: bool) -> None:
    path = tmp_path / ("slack.zip" if packed else "slack")
    files = SLACK | {"channels.json": [{"id": "C1", "name": "general", "members": ["U1", "U3", "U2"]}]}
    if packed:
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in files.items():
                archive.writestr(f"Acme export/{name}", json.dumps(content))
    else:
        for name, content in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_text(json.dumps(content))
    found = load(store, path)
    assert (found.format, found.read, found.imported, found.dead_by_reason) == ("slack", 4, 3, {"impossible_time": 1})
    assert found.skipped == {"channel_join": 1, "empty": 1}
    assert said(turns) == [
        ("U1", "D1/2026-03-02", "user", "Ana", "I like tea."),
        ("general", "general/1772352001.0001", "assistant", "Helper", "Yes."),
        ("general", "general/2026-03-01", "user", "Ana", "@Helper is 5 < 6? See this"),
    ]
    ((_, reason, detail, payload, _),) = letters()
    assert reason == "impossible_time"
    assert detail.startswith("general/2026-03-01.json item 5: ")
    assert json.loads(payload)["text"] == "Lost."
    assert redrive_dead_letters(store, tenant_id=TENANT, now=NOW).dead == 1  # read, and as wrong as before
