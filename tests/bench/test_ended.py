"""Which memories state what was labelled as ended."""

from pathlib import Path
from uuid import UUID

import pytest

from bench import ended
from bench.ended import Memory, ended_in, turns_of

LINES = [
    {"part": "dev"},
    {"day": "2026-01-12", "t": "Danny does the Mondays.", "s": [{"r": "has_colleague", "o": "Danny"}]},
    {"day": "2026-01-19", "q": "How is the team?", "t": "Danny's jacked it in.", "s": []},
]


def test_a_memory_of_the_message_states_what_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ann.tsv").write_text("2.0\t3\tsure\n", encoding="utf-8")
    monkeypatch.setattr(ended, "ENDED", tmp_path)
    stated = Memory(UUID(int=1), "Works with Danny", False, None)
    other = Memory(UUID(int=2), "Works on Mondays", False, None)
    (found,) = ended_in("ann", LINES, {("ann", 2): [stated, other]})
    assert found.memories == [stated]
    assert (found.what, found.by, found.by_line) == ("Danny does the Mondays.", "Danny's jacked it in.", 3)
    (unread,) = ended_in("ann", LINES, {("ann", 2): [other]})
    assert unread.memories == []


def test_messages_are_imported_with_what_they_answer() -> None:
    turns = list(turns_of("ann", LINES))
    assert [(turn["role"], turn["source_id"]) for turn in turns] == [
        ("user", "ann:2:user"), ("assistant", "ann:3:assistant"), ("user", "ann:3:user"),
    ]  # fmt: skip
    assert len({turn["session_id"] for turn in turns}) == 2
    assert [turn["said_at"] for turn in turns] == sorted(turn["said_at"] for turn in turns)
