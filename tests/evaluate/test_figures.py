"""Figures of a month, from its answers."""

from __future__ import annotations

from reverie.evaluate.simulation.asking import PlantedAnswer
from reverie.evaluate.simulation.figures import SimulationResult, WeekFigures, month_figures


def answered(name: str, *, durable: bool, answered: bool, held: bool, current: bool | None = None) -> PlantedAnswer:
    return PlantedAnswer(
        name=name, subject_id="p", is_durable=durable, is_answered=answered, is_held=held, is_current_first=current
    )


def test_shares_are_of_what_was_asked() -> None:
    answers = [
        answered("home", durable=False, answered=True, held=False, current=False),
        answered("car", durable=False, answered=True, held=True, current=True),
        answered("pet", durable=True, answered=True, held=True),
        answered("food", durable=True, answered=False, held=False),
    ]
    month = month_figures(1, 4, answers, ended=(3, 1))
    assert (month.asked, month.answered, month.durable, month.held, month.durable_held) == (4, 0.75, 0.5, 0.5, 0.5)
    assert month.stale_first == 0.5 and (month.ended, month.still_told) == (3, 1)
    assert (list(month.missed), list(month.stale)) == (["p food"], ["p home"])
    nothing = month_figures(1, 4, [], ended=(0, 0))
    assert nothing.answered is None and nothing.stale_first is None


def year_of(memories: list[float]) -> SimulationResult:
    return SimulationResult(
        policy="p", policy_hash="h", people=1, seed=1, turns=1,
        weeks=[WeekFigures(week, number, 9) for week, number in enumerate(memories, 1)],
        months=[month_figures(1, 4, [], ended=(0, 0))], milestones={}, kinds={}, forgotten={}, bytes=1, cost_usd=0,
        seconds=1,
    )  # fmt: skip


def test_growth_is_since_the_end_of_week_12() -> None:
    counts = [float(week) for week in range(1, 25)]
    assert year_of(counts).summary()["growth_after_month_3"] == 2, "24 at the end, 12 at month 3"
    assert "growth_after_month_3" not in year_of(counts[:11]).summary(), "month 3 was not lived"
    assert year_of([0.0] * 12).summary()["growth_after_month_3"] == 0
