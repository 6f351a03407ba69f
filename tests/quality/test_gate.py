"""What every gate has."""

from __future__ import annotations

from reverie.quality.gates import GATES


def test_gates_have_names_of_their_own_and_say_what_holds() -> None:
    assert len({gate.name for gate in GATES}) == len(GATES) >= 9
    for gate in GATES:
        assert gate.holds.endswith("."), gate.name
        assert (gate.sql is None) != (gate.read is None), gate.name
        assert "12 %" in gate.clause("part").format("12 %"), gate.name


def test_a_gate_without_history_has_limits_that_are_known() -> None:
    for gate in GATES:
        if gate.history is None:
            assert gate.column == "value" and (gate.low, gate.high) != (None, None), gate.name
