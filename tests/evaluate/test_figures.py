"""Figures of a month, from its answers."""

from __future__ import annotations

from reverie.evaluate.simulation.asking import PlantedAnswer
from reverie.evaluate.simulation.figures import month_figures


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
