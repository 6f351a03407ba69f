"""A statement's placeholders and rows."""

from __future__ import annotations

from dataclasses import dataclass

from reverie.store.session import Statement
from reverie.store.session.statement import numbered
from tests.store.session.operations import Run, running


@dataclass(frozen=True)
class Pair:
    x: int
    y: str


def test_rows_may_be_objects(run: Run) -> None:
    assert run(running(Statement("select 1 as x, 'a' as y", row=dict))) == [{"x": 1, "y": "a"}]
    assert run(running(Statement("select 1 as x, 'a' as y", row=Pair))) == [Pair(1, "a")]


def test_numbers_stand_for_names() -> None:
    assert numbered("a %(x)s b %(y)s c %(x)s 5 %%") == ("a $1 b $2 c $1 5 %", ("x", "y"))
