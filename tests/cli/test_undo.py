"""`reverie undo`: a merge is undone."""

from __future__ import annotations


def test_undo_parts_a_merge(invoke, ask, world) -> None:
    first = ask("undo", str(world["adores"])[:23], "--as-of", "2026-03-06")
    assert first["survivor_id"] == str(world["loves"])
    assert ask("undo", str(world["adores"]), "--as-of", "2026-03-06") == first
    assert ask("show", "ana")["subject"]["states"] == {"active": 3}
    result = invoke("undo", str(world["walked"]))
    assert result.exit_code == 6
    assert result.stderr.startswith("Error: Nothing to undo")
