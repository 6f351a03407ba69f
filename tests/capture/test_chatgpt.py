"""ChatGPT's export: the current branch of each conversation becomes turns."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reverie.capture.history.importing import FileOptions, ImportSummary, import_file
from reverie.errors import InputError
from reverie.store.database import Store
from tests.capture.conftest import NOW, TENANT

Rows = Callable[[], list[tuple[Any, ...]]]


def load(store: Store, path: Path, **options: Any) -> ImportSummary:
    return import_file(store, path, FileOptions(**options), tenant_id=TENANT, now=NOW)


def said(turns: Rows) -> list[tuple[Any, ...]]:
    """Subject, session, role, speaker and text of each turn."""
    return [(row[2], row[3], row[6], row[7], row[9]) for row in turns()]


def message(role: str, *parts: Any, at: float | None = 1772352000.0, kind: str = "text", **more: Any) -> dict[str, Any]:
    content = {"content_type": kind, "parts": list(parts)}
    return {"id": f"{role}{at}", "author": {"role": role}, "create_time": at, "content": content} | more


CHATGPT = [
    {
        "conversation_id": "c1",
        "create_time": 1772352000.0,
        "current_node": "d",
        "mapping": {
            "root": {"message": None, "parent": None},
            "a": {"message": message("system", "", at=None), "parent": "root"},
            "b": {"message": message("user", "I moved to Lisbon.", at=1772352001.0), "parent": "a"},
            "old": {"message": message("assistant", "Another answer.", at=1772352002.0), "parent": "b"},
            "c": {"message": message("tool", "search results", at=1772352003.0), "parent": "b"},
            "d": {
                "message": message("assistant", "How nice!", {"asset_pointer": "x"}, at=None, kind="multimodal_text"),
                "parent": "c",
            },
        },
    }
]


@pytest.mark.parametrize("packed", [False, True])
def test_chatgpt(store: Store, tmp_path: Path, turns: Rows, packed: bool) -> None:
    path = tmp_path / ("export.zip" if packed else "conversations.json")
    if packed:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("conversations.json", json.dumps(CHATGPT))
            archive.writestr("user.json", "{}")
    else:
        path.write_text(json.dumps(CHATGPT))
    with pytest.raises(InputError, match="does not name its owner: add --subject NAME"):
        load(store, path)
    found = load(store, path, subject="ana")
    assert (found.format, found.read, found.imported, found.dead) == ("chatgpt", 2, 2, 0)
    assert found.skipped == {"empty": 1, "tool": 1, "other_branch": 1}
    assert said(turns) == [
        ("ana", "c1", "user", None, "I moved to Lisbon."),
        ("ana", "c1", "assistant", None, "How nice!"),
    ]
    assert [row[8].timestamp() for row in turns()] == [1772352001.0, 1772352003.0]  # without a time: that before it
    assert load(store, path, subject="ana").repeated == 2


def test_a_conversation_without_messages_is_counted(store: Store, tmp_path: Path) -> None:
    empty = [{"conversation_id": f"e{number}", "mapping": nodes} for number, nodes in enumerate(({}, {"root": {}}))]
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(CHATGPT + empty))
    found = load(store, path, subject="ana")
    assert (found.imported, found.dead, found.skipped["no_messages"]) == (2, 0, 2)


def test_hidden_folders_are_no_part_of_an_export(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = tmp_path / ".cache" / "packages"
    hidden.mkdir(parents=True)
    (hidden / "conversations.json").write_text(json.dumps(CHATGPT))
    with pytest.raises(InputError, match="is a directory, but not a Slack or ChatGPT export"):
        load(store, tmp_path, subject="ana")
    monkeypatch.chdir(hidden)
    with pytest.raises(InputError, match=r"^\. is a ChatGPT export, which does not name its owner"):
        load(store, Path())
    assert load(store, Path(), subject="ana").imported == 2
