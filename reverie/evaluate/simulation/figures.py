"""The results of a simulated year, as numbers: by week, by month and in all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reverie.evaluate.simulation.asking import PlantedAnswer

#: The week at whose end month 3 is measured.
_MONTH_3 = 12


class WeekFigures(NamedTuple):
    """Active memories per subject at the end of a week: the mean and the maximum."""

    week: int
    memories: float
    most: int


@dataclass(frozen=True, kw_only=True, slots=True)
class MonthFigures:
    """The answers of recall at the end of a month; shares are from 0 to 1, None if there is nothing to measure."""

    month: int
    week: int
    #: Number of questions, one about each fact told so far.
    asked: int
    #: Share of facts whose true value is in the ten best hits; the same for durable facts.
    answered: float | None
    durable: float | None
    #: Share of facts whose true value a memory has, if only memories are recalled; the same for durable facts.
    held: float | None
    durable_held: float | None
    #: Share of changed facts for which the first hit with any of their values has one that is no longer true.
    stale_first: float | None
    #: Number of passing things that have ended, and of those that a memory still states.
    ended: int
    still_told: int
    #: Facts, by subject and name: those not answered, those not held, those answered with a former value first.
    missed: Sequence[str]
    not_held: Sequence[str]
    stale: Sequence[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulationResult:
    """The result of a simulated year under a policy."""

    policy: str
    policy_hash: str
    people: int
    seed: int
    turns: int
    weeks: Sequence[WeekFigures]
    months: Sequence[MonthFigures]
    #: Active memories per subject, by day, week, month and year since its first turn (`memory.milestones`).
    milestones: Mapping[str, float]
    #: Active memories of all subjects at the end, by kind.
    kinds: Mapping[str, int]
    #: Memories forgotten, by reason.
    forgotten: Mapping[str, int]
    #: Bytes of the rows of memory: memories, vectors, items, terms, links, lineage.
    bytes: int
    cost_usd: float
    #: Seconds of work, including recalls.
    seconds: float

    def summary(self) -> dict[str, float]:
        """Return the figures at the end of the year that were measured as a flat table, to compare policies."""
        last, counts = self.months[-1], [each.memories for each in self.weeks]
        third = counts[_MONTH_3 - 1] if len(counts) >= _MONTH_3 else None
        figures = {
            "memories_per_subject": counts[-1],
            "most_memories": float(self.weeks[-1].most),
            "growth_after_month_3": round(counts[-1] / third, 4) if third else third,
            "answered": last.answered,
            "durable_answered": last.durable,
            "held": last.held,
            "durable_held": last.durable_held,
            "stale_first": last.stale_first,
            "ended_still_told": last.still_told,
            "forgotten": float(sum(self.forgotten.values())),
            "bytes_per_subject": float(round(self.bytes / self.people)),
            "cost_usd": self.cost_usd,
            "seconds": round(self.seconds, 1),
        }
        return {name: float(value) for name, value in figures.items() if value is not None}


def month_figures(month: int, week: int, answers: Sequence[PlantedAnswer], *, ended: tuple[int, int]) -> MonthFigures:
    """Return the figures of a month from its answers; `ended`: numbers of ended things, and of those still stated."""
    durable = [each for each in answers if each.is_durable]
    return MonthFigures(
        month=month,
        week=week,
        asked=len(answers),
        answered=_share(each.is_answered for each in answers),
        durable=_share(each.is_answered for each in durable),
        held=_share(each.is_held for each in answers),
        durable_held=_share(each.is_held for each in durable),
        stale_first=_share(not each.is_current_first for each in answers if each.is_current_first is not None),
        ended=ended[0],
        still_told=ended[1],
        missed=[each.label for each in answers if not each.is_answered],
        not_held=[each.label for each in answers if not each.is_held],
        stale=[each.label for each in answers if each.is_current_first is False],
    )


def _share(flags: Iterable[bool]) -> float | None:
    given = list(flags)
    return round(sum(given) / len(given), 4) if given else None
