"""`reverie runs`: the run ledger."""

from __future__ import annotations


def test_runs(invoke, ask, world, conn) -> None:
    text = invoke("runs").stdout
    assert "extract" in text
    assert "driver" in text and "01234567  reverie" in text, "the program that started it"
    assert "candidates 4 · turns 3" in text or "turns 3 · candidates 4" in text
    (row,) = ask("runs", "--stage", "extract")["runs"]
    assert row["report"] == {"turns": 3, "candidates": 4}
    assert row["as_of"] == "2026-03-04T09:00:00+00:00"
    assert ask("runs", "--stage", "merge")["runs"] == []
    assert invoke("keys", "add", "first", "--tenant", "other").exit_code == 0
    assert "No runs of tenant other yet" in invoke("runs", "--tenant", "other").stdout
