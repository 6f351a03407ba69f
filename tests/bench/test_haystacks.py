"""Conversations that are joined to one subject's history keep their order and their questions."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bench import haystacks
from reverie.evaluate.ranking.sets import LabelledQuery, LabelledSet

DAY = datetime.fromisoformat("2025-05-01T09:00:00+00:00")


def said(subject: str, number: int, *, days: float, role: str = "user") -> dict[str, Any]:
    at = (DAY + timedelta(days=days)).isoformat()
    return {
        "subject_id": subject, "session_id": "s1", "source_id": f"t{number}", "turn_index": number, "role": role,
        "speaker": None, "said_at": at, "text": f"{subject} {number}",
    }  # fmt: skip


ANN = [said("ann", 0, days=0), said("ann", 1, days=40)]
BOB = [said("bob", 0, days=3), said("bob", 1, days=3.5)]
ASKED = LabelledQuery(
    subject_id="bob", text="What?", asked_at=DAY, needs=frozenset({"t1"}), group="bob", category="one"
)


def test_a_conversation_begins_a_day_after_the_one_before_it_ended() -> None:
    turns = list(haystacks.joined("history", [ANN, BOB]))
    times = [datetime.fromisoformat(turn["said_at"]) - DAY for turn in turns]
    assert times == [timedelta(days=each) for each in (0, 40, 41, 41.5)]
    assert {turn["subject_id"] for turn in turns} == {"history"}
    assert [turn["source_id"] for turn in turns] == ["ann/t0", "ann/t1", "bob/t0", "bob/t1"]
    assert [turn["session_id"] for turn in turns] == ["ann/s1", "ann/s1", "bob/s1", "bob/s1"]


@pytest.mark.parametrize(("factor", "subjects"), [(1, 3), (4, 2), (16, 1)])
def test_longer_haystacks_have_all_turns_and_the_same_questions(
    factor: int, subjects: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    cat = [said("cat", 0, days=9)]
    user = [said("memaware", number, days=number, role="user") for number in range(2 * haystacks.PARTS)]
    sets = {
        "locomo": LabelledSet(name="locomo", records=(*ANN, *BOB), queries=(ASKED,)),
        "realtalk": LabelledSet(name="realtalk", records=tuple(cat), queries=()),
        "memaware": LabelledSet(
            name="memaware", records=(*user, said("memaware", 99, days=1, role="assistant")), queries=()
        ),
    }
    monkeypatch.setattr(haystacks, "read_set", lambda name, _data: sets[name])
    monkeypatch.setattr(haystacks, "PART", 2)
    made = haystacks.haystack(["locomo", "realtalk"], factor, Path())
    assert len({turn["subject_id"] for turn in made.records}) == subjects
    assert len(made.records) == 5 + (len(user) if factor == 16 else 0)
    (query,) = made.queries
    needed = [turn for turn in made.records if turn["source_id"] in query.needs]
    assert [turn["text"] for turn in needed] == ["bob 1"]
    assert needed[0]["subject_id"] == query.subject_id
    assert (query.category, query.group, query.asked_at) == ("locomo one", "bob", None)
