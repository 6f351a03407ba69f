"""The page about a person: what is kept, in their words, which end no list and begin no markup."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reverie.drive.readable import write_readable

AT = "2026-03-01T09:00:00+00:00"
ENDED = "2026-03-05T09:00:00+00:00"
NOW = "2026-04-01T09:00:00+00:00"
MEMORY = {"id": "m1", "kind": "fact", "state": "active", "happened_at": AT, "valid_to": None, "expires_at": None}


def written(folder: Path, *records: tuple[str, dict[str, Any]]) -> str:
    """The page of an export with these rows."""
    for name, schemas in (("log.jsonl", ("log", "ops")), ("memory.jsonl", ("memory",))):
        lines: list[dict[str, Any]] = [{"format": "reverie export", "exported_at": NOW}]
        lines += [{"table": table, "row": row} for table, row in records if table.split(".")[0] in schemas]
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return write_readable(folder, "ana").read_text()


def test_an_empty_export_is_a_page(tmp_path: Path) -> None:
    assert written(tmp_path) == "# What is kept about ana\n"


def test_what_is_kept_has_a_line_each(tmp_path: Path) -> None:
    turn = {"id": "1", "session_id": "s*1", "said_at": AT, "turn_index": 0, "speaker": None, "role": "user"}
    fact = {"key": "name", "value": "Ana", "valid_to": None, "speaker": "", "category": "identity"}
    fact |= {"memory_id": "m1", "polarity": 1, "expires_at": None}
    memory = MEMORY | {"content": "Likes <b>tea</b>"}
    page = written(
        tmp_path,
        ("log.turns", turn | {"text": "One\n# two"}),
        ("log.turns", turn | {"id": "2", "turn_index": 1, "text": ""}),
        ("memory.memories", memory),
        ("memory.memories", memory | {"state": "merged", "content": "Not told"}),
        ("memory.structured_facts", fact),
        ("memory.memories", MEMORY | {"id": "m2", "content": "Stays in Delhi", "expires_at": ENDED}),
        ("memory.structured_facts", fact | {"value": "Anna", "valid_to": AT}),
        ("memory.structured_facts", fact | {"value": "Ended", "expires_at": ENDED}),
        ("memory.structured_facts", fact | {"value": "Ended", "memory_id": "m2", "polarity": None}),
        ("memory.structured_facts", fact | {"key": "location", "value": "Delhi", "speaker": "meera"}),
        ("ops.consents", {"capture": False, "recall": True, "retain_days": None}),
    )
    for line in (
        "Capture is off, recall is on; turns and events are kept without limit.",
        "- name: Ana",
        "- meera, location: Delhi",
        "- Likes \\<b\\>tea\\</b\\> (2026-03-01)",
        "- Stays in Delhi (2026-03-01, until 2026-03-05)",
        "### s\\*1",
        "- 2026-03-01 09:00 **user**: One \\# two",
        "- 2026-03-01 09:00 **user**: (tool call)",
    ):
        assert f"{line}\n" in page, line
    assert "Not told" not in page and "Anna" not in page and "Ended" not in page
