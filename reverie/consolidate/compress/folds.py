"""Folds summaries of sessions into one per week, those of weeks into one per month, those of months into one per year.

Weeks are left out if the policy does not set `fold_weeks`. A week or month is folded once a session of a later one has
a summary: sessions are summarised oldest first, so the period is complete by then, and the time of the fold follows
from the log. A week lies within one month: it begins on the 1st, 8th, 15th, 22nd or 29th. A year is folded in the same
way, except that each of its months joins it as soon as `fold_months` later months have summaries, so that a running
year does not collect months. The text consists of sentences from the period's own turns, like that of a session.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.compress.decide import Compression, FoldedSummary, fold_of
from reverie.consolidate.compress.write import write_compressions
from reverie.language.cues.summarise import spoken_turns, summarise_all
from reverie.language.text import written_day, written_month
from reverie.model.session_part import SessionTurn
from reverie.store.locks import lock_subjects
from reverie.store.queries import queries
from reverie.store.runs import Run
from reverie.store.work import Work

FoldPeriod = Literal["week", "month", "year"]

#: The parts from which each period is folded, with weeks and without.
_WEEKLY: dict[FoldPeriod, str] = {"week": "session", "month": "week", "year": "month"}
_MONTHLY: dict[FoldPeriod, str] = {"month": "session", "year": "month"}


@dataclass(frozen=True, slots=True)
class SummaryFold:
    """Summaries of one subject that become one summary, in order of time."""

    subject_id: str
    period: FoldPeriod
    began: datetime
    summaries: Sequence[FoldedSummary]


def fold_summaries(attempt: Run) -> None:
    """Fold the summaries of all complete periods; counts `folds` and the summaries `replaced`.

    A dry run leaves out periods that a summary of the same run completes, since it does not write that summary.
    """
    work, periods = attempt.work, _parts_of(attempt.work)
    with work.transaction() as conn:
        subjects = sorted({fold.subject_id for fold in _read_folds(conn, work, *periods)})
        if not subjects:
            return
        lock_subjects(conn, work.tenant_id, subjects)
        # read again: another writer may have folded them, and folding a part may have completed a period
        for period in periods:
            found = [fold for fold in _read_folds(conn, work, period) if fold.subject_id in subjects]
            write_compressions(conn, attempt, _folded(conn, work, found))
        attempt.record(conn)


def _parts_of(work: Work) -> dict[FoldPeriod, str]:
    return _WEEKLY if work.policy.compress.fold_weeks else _MONTHLY


def _read_folds(conn: Connection[Any], work: Work, *periods: FoldPeriod) -> list[SummaryFold]:
    months = {"year": work.policy.compress.fold_months}
    parts = _parts_of(work)
    params = work.params() | {
        "periods": list(periods),
        "origins": [parts[period] for period in periods],
        "months": [months.get(period) for period in periods],
    }
    rows = conn.execute(queries("compress")["read_folds"], params).fetchall()
    return [
        SummaryFold(subject_id, period, began, [FoldedSummary(*row[3:]) for row in of_period])
        for (period, subject_id, began), of_period in groupby(rows, key=itemgetter(0, 1, 2))
    ]


def _folded(conn: Connection[Any], work: Work, folds: Sequence[SummaryFold]) -> list[Compression]:
    numbers = work.policy.compress
    turns = _read_turns(conn, work, folds)
    texts = summarise_all(
        [spoken_turns(told) for told in turns],
        number=numbers.fold_sentences,
        weights=numbers.summary,
        salience=work.policy.salience,
        dated=False,
    )
    return [
        fold_of(
            fold.subject_id,
            fold.period,
            fold.summaries,
            f"{_named(fold, told)}. {text}",
            work.policy,
            tenant_id=work.tenant_id,
            as_of=work.as_of,
        )
        for fold, told, text in zip(folds, turns, texts, strict=True)
        if text is not None
    ]


def _named(fold: SummaryFold, told: Sequence[SessionTurn]) -> str:
    match fold.period:
        case "week":
            # a week begins on the 1st, 8th and so on, whether or not anything was said then
            first, last = written_day(told[0].said_at), written_day(told[-1].said_at)
            return first if first == last else f"{first} to {last}"
        case "month":
            return written_month(fold.began)
        case "year":
            return str(fold.began.year)


def _read_turns(conn: Connection[Any], work: Work, folds: Sequence[SummaryFold]) -> list[list[SessionTurn]]:
    """Return the turns behind the summaries of each fold, in order of time."""
    pairs = [(place, each.id) for place, fold in enumerate(folds) for each in fold.summaries]
    params: dict[str, list[int] | list[UUID]] = {
        "places": [place for place, _ in pairs],
        "ids": [id_ for _, id_ in pairs],
    }
    turns: list[list[SessionTurn]] = [[] for _ in folds]
    for place, *row in conn.execute(queries("compress")["read_folded_turns"], work.params() | params):
        turns[place].append(SessionTurn(*row))
    return turns
