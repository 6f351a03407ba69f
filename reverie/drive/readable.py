"""A page in Markdown for a person to read: their memories, conversations and the questions asked about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from reverie.recall.facts import fact_name

#: Headings of memories, by kind.
_KINDS = {
    "fact": "Facts",
    "preference": "Preferences",
    "instruction": "Instructions",
    "pattern": "Patterns",
    "summary": "Summaries",
    "episode": "What happened",
}
#: States of the memories on the page.
_TOLD = ("active", "superseded")


def write_readable(folder: Path, subject_id: str) -> Path:
    """Write `person.md` from the files of a person's export, beside them; return its path."""
    (_, log), (exported_at, memory) = _rows(folder / "log.jsonl"), _rows(folder / "memory.jsonl")
    page = folder / "person.md"
    page.write_text("\n".join(_page(subject_id, log, memory, exported_at)) + "\n", encoding="utf-8")
    return page


def _rows(file: Path) -> tuple[datetime, dict[str, list[dict[str, Any]]]]:
    """Return the time of an export, and its rows by table."""
    found: dict[str, list[dict[str, Any]]] = {}
    with file.open("rb") as lines:
        exported_at = datetime.fromisoformat(orjson.loads(next(lines))["exported_at"])
        for line in lines:
            record = orjson.loads(line)
            found.setdefault(record["table"], []).append(record["row"])
    return exported_at, found


def _page(
    subject_id: str,
    log: Mapping[str, Sequence[dict[str, Any]]],
    memory: Mapping[str, Sequence[dict[str, Any]]],
    at: datetime,
) -> Iterator[str]:
    yield f"# What is kept about {_inline(subject_id)}"
    yield from _consent(log.get("ops.consents", ()))
    facts = _in_force(memory, at)
    named = [(fact_name(row["key"], row["speaker"], row["category"]), row["value"]) for row in facts]
    yield from _list("Known", (f"{_inline(name)}: {_inline(value)}" for name, value in named))
    for row in memory.get("memory.profiles", ()):
        if row["replaced_at"] is None:
            yield from ("", "## Profile", "", _quoted(row["narrative"]))
    remembered = [row for row in memory.get("memory.memories", ()) if row["state"] in _TOLD]
    for kind, heading in _KINDS.items():
        of_kind = sorted((row for row in remembered if row["kind"] == kind), key=lambda row: str(row["happened_at"]))
        yield from _list(heading, map(_memory, of_kind))
    entities = memory.get("memory.entities", ())
    yield from _list("Named", (f"{_inline(row['label'])} ({_inline(row['type'])})" for row in entities))
    yield from _list("Corrections", map(_correction, log.get("log.corrections", ())))
    yield from _conversations(log.get("log.turns", ()))
    yield from _list(
        "Other observations",
        (f"{_day(row['observed_at'])}, {row['type']}: {_inline(row['content'])}" for row in log.get("log.events", ())),
    )
    asked = [row for row in log.get("log.recalls", ()) if row["question"]]
    yield from _list("Logged questions", (f"{_day(row['asked_at'])}: {_inline(row['question'])}" for row in asked))


def _consent(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        kept = f"kept for {row['retain_days']} days" if row["retain_days"] else "kept without limit"
        capture, recall = ("on" if row[name] else "off" for name in ("capture", "recall"))
        yield from ("", f"Capture is {capture}, recall is {recall}; turns and events are {kept}.")


def _in_force(memory: Mapping[str, Sequence[dict[str, Any]]], at: datetime) -> list[dict[str, Any]]:
    """Return the structured facts that hold at a time."""
    # a fact from before migration 0035 has neither polarity nor end: it ends with its memory
    ends = {row["id"]: row["expires_at"] for row in memory.get("memory.memories", ())}
    found = []
    for row in memory.get("memory.structured_facts", ()):
        end = row["expires_at"] or (ends.get(row["memory_id"]) if row["polarity"] is None else None)
        if row["valid_to"] is None and (end is None or datetime.fromisoformat(end) > at):
            found.append(row)
    return found


def _memory(row: Mapping[str, Any]) -> str:
    ends = [_day(row[name]) for name in ("valid_to", "expires_at") if row[name]]
    until = f", until {min(ends)}" if ends else ""
    return f"{_inline(row['content'])} ({_day(row['happened_at'])}{until})"


def _correction(row: Mapping[str, Any]) -> str:
    instead = f": {_inline(row['content'])}" if row["content"] else ""
    by = f", by {_inline(row['actor'])}" if row["actor"] else ""
    return f"{_day(row['corrected_at'])}{by}, {row['kind']} of {row['memory_id']}{instead}"


def _conversations(turns: Iterable[dict[str, Any]]) -> Iterator[str]:
    sessions: dict[str, list[dict[str, Any]]] = {}
    for turn in sorted(turns, key=lambda turn: (turn["said_at"], turn["turn_index"], turn["id"])):
        sessions.setdefault(turn["session_id"], []).append(turn)
    if sessions:
        yield from ("", "## Conversations")
    for session_id, said in sessions.items():
        yield from ("", f"### {_inline(session_id)}", "")
        for turn in said:
            who = turn["speaker"] or turn["role"]
            text = turn["text"] or "(tool call)"
            yield f"- {_minute(turn['said_at'])} **{_inline(who)}**: {_inline(text)}"


def _list(heading: str, lines: Iterable[str]) -> Iterator[str]:
    listed = [f"- {line}" for line in lines]
    if listed:
        yield from ("", f"## {heading}", "", *listed)


def _inline(text: str) -> str:
    """Return a text as one line with its markup escaped."""
    words = " ".join(str(text).split())
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|" else char for char in words)


def _quoted(text: str) -> str:
    return "\n".join(f"> {_inline(line)}" for line in text.splitlines())


def _day(at: str) -> str:
    return f"{datetime.fromisoformat(at):%Y-%m-%d}"


def _minute(at: str) -> str:
    return f"{datetime.fromisoformat(at):%Y-%m-%d %H:%M}"
