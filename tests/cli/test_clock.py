"""clock: stopped, shown, kept by run, and started again."""

from __future__ import annotations


def test_a_clock_is_stopped_and_started(invoke, ask, world) -> None:
    assert "follows the wall clock" in invoke("clock").stdout
    assert ask("clock", "--stop-at", "2026-03-20")["clock_at"] == "2026-03-20T00:00:00+00:00"
    assert "is stopped at 2026-03-20 00:00 UTC" in invoke("clock").stdout
    late = invoke("run", "--stage", "decay", "--as-of", "2026-03-21")
    assert late.exit_code == 2
    assert "use an earlier --as-of, or start the clock with reverie clock --tenant acme --run" in late.stderr
    assert ask("run", "--stage", "decay")["as_of"] == "2026-03-20T00:00:00+00:00"
    assert ask("show", "ana")["as_of"] == "2026-03-20T00:00:00+00:00"
    assert "its clock is stopped at 2026-03-20" in invoke("doctor").stdout
    assert ask("clock", "--run")["clock_at"] is None
    assert invoke("clock", "--run", "--stop-at", "2026-03-20").exit_code == 2
    assert invoke("clock", "--tenant", "nobody").exit_code == 6
