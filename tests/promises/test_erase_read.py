"""What a target means: whose it is, and the turns that it rests on."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

from reverie.capture.history.importing import FileOptions, import_file
from reverie.drive.erase.targets import memory_target, session_target, subject_target, turn_target
from reverie.errors import InputError, NotFoundError
from tests.promises.compact import START, TENANT, UNTIL
from tests.promises.test_corrected_at_once import rows
from tests.promises.test_erased import Opened, said, take_in, there, without

__all__ = ["there", "without"]


def test_turns_that_other_memories_rest_on_go_only_if_asked(there: Opened) -> None:
    shared = rows(
        there.store,
        """select l.memory_id from memory.lineage l join memory.lineage o using (source_id)
           where l.relation = 'extracted' and o.relation = 'extracted' and l.memory_id <> o.memory_id""",
    )
    if shared:
        with pytest.raises(InputError, match="--shared"):
            there.eraser.erase(memory_target(shared[0][0]))
    summary = rows(there.store, "select id from memory.memories where kind in ('summary', 'pattern') limit 1")
    with pytest.raises(InputError, match="was made from other memories"):
        there.eraser.erase(memory_target(summary[0][0]))


def test_what_is_not_there_is_named(there: Opened) -> None:
    nothing = UUID(int=7)
    for target, words in ((turn_target(nothing), "turn or event"), (memory_target(nothing), "memory")):
        with pytest.raises(NotFoundError, match=f"has no {words} {nothing}"):
            there.eraser.erase(target)


def test_a_session_of_one_subject_needs_no_subject(there: Opened) -> None:
    done = there.eraser.erase(session_target(None, "ben-1"))
    assert (done.turns, done.left, done.subject_id) == (3, ["ben"], "ben")


def test_a_session_goes_with_its_dead_letters(there: Opened, tmp_path: Path) -> None:
    """A record that could not be imported is no turn, by whose id its letter could be found."""
    records = [said("ben", session, "x9", START, "Hidden") | {"role": "klant"} for session in ("ben-1", "ben-2")]
    take_in(there.store, tmp_path, records)
    ours = "select line from ops.dead_letters where source = 'history.jsonl' and reason = 'unknown_role' order by line"
    assert rows(there.store, ours) == [(1,), (2,)]
    there.eraser.erase(session_target("ben", "ben-1"))
    assert rows(there.store, ours) == [(2,)]


def test_a_dead_letter_is_of_the_subject_that_its_import_read(there: Opened, tmp_path: Path) -> None:
    file = tmp_path / "course.jsonl"
    file.write_text(
        '{"user": "ana", "subject_id": "math-101", "session_id": "m", "text": "secret"}\n', encoding="utf-8"
    )
    import_file(there.store, file, FileOptions(mapping={"subject_id": "user"}), tenant_id=TENANT, now=UNTIL)
    ours = "select line from ops.dead_letters where source = 'course.jsonl'"
    assert rows(there.store, ours) == [(1,)]
    with pytest.raises(NotFoundError, match="math-101"):
        there.eraser.erase(subject_target("math-101"))
    there.eraser.erase(subject_target("ana"))
    assert rows(there.store, ours) == []
