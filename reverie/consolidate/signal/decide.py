"""Everything that follows from a subject's history; pure, and the same however the history came in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from reverie.consolidate.signal.acquaintance import StageBegun, Tie, declines_of, pauses_of, stages_of, tie_of
from reverie.consolidate.signal.alerts import (
    Due,
    after_crises,
    after_declines,
    after_difficulties,
    after_silence,
    around_events,
    scheduled,
)
from reverie.consolidate.signal.history import History
from reverie.consolidate.signal.hours import Band, usual_hours, zone_finder, zone_of, zones_of
from reverie.consolidate.signal.insights import insights_of
from reverie.consolidate.signal.periods import Period, find_openings, find_periods
from reverie.consolidate.signal.wording import difficult_memory, hours_memory, sources_of
from reverie.model import Candidate, Lineage
from reverie.policy import Policy

#: How far ahead triggers for yearly events are made.
_YEAR = timedelta(days=366)


@dataclass(slots=True, kw_only=True)
class Followed:
    """Everything that follows from the history of a subject."""

    subject_id: str
    zone: str
    periods: Sequence[Period] = ()
    stages: Sequence[StageBegun] = ()
    #: None: no day has a message of the subject.
    tie: Tie | None = None
    band: Band | None = None
    triggers: Sequence[Due] = ()
    candidates: list[Candidate] = field(default_factory=list)
    lineage: list[Lineage] = field(default_factory=list)


def follow_history(history: History, tenant_id: str, policy: Policy) -> Followed:
    """Return what follows from a subject's history."""
    zone_name = zone_of(history.days, policy)
    # in the zones of their days: otherwise a later zone would move triggers that were delivered
    zone_on = zone_finder(history.days, policy)
    openings = find_openings(history.moods, policy)
    periods = find_periods(history.moods, openings, policy)
    own = [day for day in history.days if day.messages]
    bands = usual_hours(own, [zone_name] * len(own), policy)
    pauses = pauses_of(history.sessions, policy)
    declines = declines_of(own, policy)
    triggers = [
        *after_difficulties(openings, periods, zone_on, policy),
        *after_silence(pauses, policy),
        *after_declines(declines, policy),
        *after_crises(history.moods, policy),
        *around_events(history.events, history.last_day + _YEAR, zone_on, policy),
    ]
    followed = Followed(
        subject_id=history.subject_id,
        zone=zone_name,
        periods=periods,
        stages=stages_of(history.sessions, policy),
        tie=tie_of(own, pauses, declines[-1] is not None, policy) if own else None,
        band=bands[-1] if bands else None,
        triggers=scheduled(triggers, history.moods, zone_on, policy),
    )
    followed.candidates, followed.lineage = insights_of(history, tenant_id, policy)
    if policy.signals.remember:
        # by session, so that no memory depends on which of two sessions was read first
        for opening in (one for one in openings if not one.again):
            memory = difficult_memory(opening, tenant_id, history.subject_id, policy.signals.importance)
            followed.candidates.append(memory)
            followed.lineage += sources_of(memory, opening.turn_ids)
        # in the zones of their time: otherwise a later zone would make other memories of the same days
        for band in usual_hours(own, zones_of(own, policy), policy):
            evidence = next((felt for felt in history.moods if felt.said_at.date() >= band.since), None)
            if evidence is not None:
                memory = hours_memory(band, evidence, tenant_id, history.subject_id, policy)
                followed.candidates.append(memory)
                followed.lineage += sources_of(memory, (evidence.turn_id,))
    return followed
