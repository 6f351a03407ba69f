"""Who a memory is of, and since when, where the other system leaves it open."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.capture.history.formats.remembered import read_letta, read_mem0, read_temporal_graph
from reverie.capture.history.formats.shapes import ForeignItem
from tests.capture.conftest import NOW


@pytest.mark.parametrize(
    ("fields", "subject"),
    [({"user_id": "ana", "agent_id": "a"}, "ana"), ({"agent_id": "a"}, "a"), ({"app_id": "shop"}, "shop"), ({}, None)],
)
def test_the_subject_of_mem0(fields: dict[str, Any], subject: str | None) -> None:
    (found,) = read_mem0(ForeignItem(number=1, fields={"id": "x", "memory": "m"} | fields), None, NOW)
    assert isinstance(found, dict) and found.get("subject_id") == subject and found["observed_at"] == NOW.isoformat()
    (found,) = read_mem0(ForeignItem(number=1, fields=fields), "eve", None)
    assert isinstance(found, dict) and found["subject_id"] == "eve"


def test_a_passage_of_letta_is_a_statement() -> None:
    passage = {
        "id": "passage-1",
        "text": "Porto is on the Douro.",
        "created_at": "2026-01-01T00:00:00Z",
        "agent_id": "a",
    }
    (found,) = read_letta(ForeignItem(number=1, fields=passage | {"embedding": [0.1]}), None, None)
    assert isinstance(found, dict) and (found["type"], found["subject_id"]) == ("statement", "a")
    assert "embedding" not in found["metadata"]["fields"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "Customer: My soles came off.\nSee: the left one.\n\nSupport: I'm sorry, I live in Porto.\nCustomer: Oh",
            [
                ("Customer", "Customer", "My soles came off.\nSee: the left one."),
                ("Support", "Support", "I'm sorry, I live in Porto."),
                ("Customer", "Customer", "Oh"),
            ],
        ),
        (
            "Ana (user): I moved:\nPorto: the new home\nBot (assistant): Nice.",
            [("user", "Ana", "I moved:\nPorto: the new home"), ("assistant", "Bot", "Nice.")],
        ),
        (
            "Ana Silva: I moved to Porto.\nso it goes: well\nBo: Nice.",
            [("user", "Ana Silva", "I moved to Porto.\nso it goes: well"), ("user", "Bo", "Nice.")],
        ),
        (
            "Ana: The error is\nTraceback: x\nTypeError: bad arg",
            [("user", "Ana", "The error is\nTraceback: x\nTypeError: bad arg")],
        ),
        (
            "Ana: Buy this:\nMilk: 2\nBob: All?\nAna: Yes.\nBob (assistant): Ok.",
            [
                ("user", "Ana", "Buy this:\nMilk: 2"),
                ("user", "Bob", "All?"),
                ("user", "Ana", "Yes."),
                ("assistant", "Bob", "Ok."),
            ],
        ),
        ("I live in Porto.\nAna: Yes.", [("user", None, "I live in Porto.\nAna: Yes.")]),
    ],
)
def test_an_episode_is_a_turn_of_each_speaker(content: str, said: list[tuple[str, str | None, str]]) -> None:
    episode = {"uuid": "g1", "group_id": "ana", "source": "message", "content": content}
    found = list(read_temporal_graph(ForeignItem(number=1, fields=episode), None, NOW))
    turns = [each for each in found if isinstance(each, dict)]
    assert [(turn["role"], turn.get("speaker"), turn["text"]) for turn in turns] == said
    assert [turn["source_id"] for turn in turns] == ["g1", "g1/2", "g1/3", "g1/4"][: len(said)]
