"""Half a year of two subjects in fifty turns, in which every stage has something to do."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from reverie.policy import Policy
from tests.promises.world import lively

TENANT = "acme"
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
UNTIL = START + timedelta(days=130, hours=3)

#: (day, words): said by the subject; what begins with a word in brackets is a tool call of the assistant.
_SAID = {
    "ana": [
        (0, "I have a golden retriever named Rex.", "My dog Bruno loves the park.", "My sister lives in Pune."),
        (9, "I have a golden retriever named Rex!", "Yesterday I took Bruno to the vet.", "[recipe] 340", "ok"),
        (9, "We went to the lake with Bruno last weekend.", "[recipe] 290", "Do you like lakes?"),
        (31, "My dog Bruno loves the park!", "Bruno ate my shoes again yesterday.", "[news] 95"),
        (33, "I can't stand coffee.", "We met Bruno's trainer yesterday.", "[news] 110", "[recipe] 280"),
        (62, "I prefer texts to emails.", "I prefer texts to emails!", "My sister lives in Delhi."),
    ],
    "ben": [
        (2, "I work at Infosys, on the sprint team.", "I started a new sprint at Infosys yesterday.", "lol"),
        (15, "I still work at Infosys.", "We finished the sprint at Infosys last night.", "hmm"),
        (40, "I live in Mumbai.", "Infosys gave us an award yesterday.", "What is the weather like?"),
        (41, "I hate the commute to Infosys.", "I visited my mom in Chennai last week."),
    ],
}


def policy() -> Policy:
    """One cycle a day, and numbers low enough for a short history."""
    return lively("reverie", cycle={"hours": 24})


def write_history(path: Path) -> Path:
    """The history as a file to import, with one line that is no record."""
    lines = [json.dumps(record) for record in _records()]
    lines.insert(len(lines) // 2, '{"subject_id": "ana", "cut in the mid')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _records() -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    for subject, sessions in _SAID.items():
        for number, (day, *words) in enumerate(sessions):
            session = f"{subject}-{number}"
            for place, text in enumerate(words):
                said_at = START + timedelta(days=day, hours=number, minutes=place)
                records += _turn(subject, session, f"t{place}", said_at, text)
    return records


def _turn(subject: str, session: str, source_id: str, said_at: datetime, text: str) -> list[dict[str, Any]]:
    key = {"subject_id": subject, "session_id": session, "source_id": source_id}
    turn = key | {"said_at": said_at.isoformat(), "role": "user", "speaker": subject.capitalize(), "text": text}
    if not text.startswith("["):
        return [turn]
    kind, views = text[1:].split("] ")
    call = {"name": "suggest_post", "arguments": {"category": kind}, "why": f"{kind} posts were asked for"}
    outcome = key | {
        "type": "outcome",
        "metric": "views",
        "value": int(views),
        "positive": int(views) > 200,
        "observed_at": (said_at + timedelta(days=3)).isoformat(),
    }
    return [
        turn | {"role": "assistant", "speaker": "Copilot", "text": f"A {kind} post?", "tool_calls": [call]},
        outcome,
    ]
