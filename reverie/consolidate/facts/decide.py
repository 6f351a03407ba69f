"""Decides which statements are in force, from when to when, and what ended each; pure.

Statements are processed in event order, in whatever order they come in, so the result does not depend on the batches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from uuid import UUID

from reverie.consolidate.facts.relationships import without_pets
from reverie.consolidate.facts.slots import with_slots
from reverie.consolidate.facts.statements import Decision, StatedValue, Stint, Undecided, Validity, ValueInForce
from reverie.consolidate.facts.ties import follow
from reverie.consolidate.facts.timeline import Timeline
from reverie.language.objects import differ_in_numbers_alone


def decide(
    stated: Iterable[StatedValue],
    apart: Collection[frozenset[UUID]] = frozenset(),
    together: timedelta = timedelta(hours=1),
) -> Decision:
    """Decide on all statements of some subjects.

    `apart` has the pairs of memories that a person keeps apart: neither ends the other. Of two values that are stated
    within `together` of each other in one session, without a word of change, neither replaces the other.
    """
    decision = Decision()
    spans: dict[UUID, list[_Span]] = {}
    kept, untrue = without_pets(stated, apart)
    for value, by in untrue:
        spans.setdefault(value.bearer_id, []).append((value, by))
    in_order = sorted(
        follow(with_slots(kept)), key=lambda value: (value.place, value.order, value.ends_words is not None)
    )
    for _, of_place in groupby(in_order, attrgetter("place")):
        timeline = Timeline(apart, together)
        for value in of_place:
            timeline.take(value)
        _add_values(decision, timeline)
        _add_conflicts(decision, timeline)
        _add_spans(spans, timeline)
    decision.validity = {bearer: _validity(bearer, of_bearer) for bearer, of_bearer in spans.items()}
    # a memory that states several things may be over because of another of them
    over = {bearer for bearer, valid in decision.validity.items() if valid.valid_to is not None}
    decision.conflicts = {pair for pair in decision.conflicts if over.isdisjoint((pair.memory_id, pair.other_id))}
    return decision


#: A statement, and the one that ended it.
_Span = tuple[StatedValue, StatedValue | None]


def _add_values(decision: Decision, timeline: Timeline) -> None:
    """Add all values that were ever in force, each with the statement that ended it."""
    stints = [stint for stint in timeline.stints if stint.opened.key is not None]
    decision.weaker |= {stint.opened.id for stint in stints if stint.is_weak}
    made = {value.fact.id for value in decision.values}
    kept = [stint for stint in stints if not stint.is_weak and stint.opened.id not in made]
    ids = {stint.opened.id for stint in kept}
    for stint in kept:
        by = stint.ended_by
        decision.values.append(
            ValueInForce(
                fact=stint.opened,
                ended_at=by.valid_from if by else None,
                replaced_by=by.id if by and by.id in ids else None,
                expires_at=_expiry(stint),
            )
        )


def _expiry(stint: Stint) -> datetime | None:
    """Return when a value ends by itself; None: one of its statements has no such end."""
    ends = [value.expires_at for value in stint.stated]
    return None if None in ends else max(end for end in ends if end is not None)


def _add_conflicts(decision: Decision, timeline: Timeline) -> None:
    """Add the undecided pairs of which both are still in force."""
    for (first, second), reason in timeline.undecided.items():
        if not first.is_open or (isinstance(second, Stint) and not second.is_open):
            continue
        one, other = first.stated[-1], second.opened if isinstance(second, Stint) else second
        if one.bearer_id == other.bearer_id:
            one = first.opened
        if one.bearer_id != other.bearer_id and one.is_kept and other.is_kept:
            earlier, later = sorted((one, other), key=attrgetter("order"))
            decision.conflicts.add(
                Undecided(
                    subject_id=one.subject_id,
                    memory_id=earlier.bearer_id,
                    other_id=later.bearer_id,
                    relation=one.relation,
                    reason=reason,
                    since=later.valid_from,
                )
            )


def _add_spans(spans: dict[UUID, list[_Span]], timeline: Timeline) -> None:
    """Add the statements of a place, and what ended each, to those of their memories."""
    for stint in timeline.stints:
        for value in stint.stated:
            spans.setdefault(value.bearer_id, []).append((value, stint.last()))
    for value, by in timeline.others:
        if value.ends_words is None:
            spans.setdefault(value.bearer_id, []).append((value, by))


def _validity(bearer: UUID, spans: list[_Span]) -> Validity:
    """Return the validity of a memory: it holds while one of its statements does, else until the last of them ended.

    An earlier figure that was merged into it ("81 kg" into "76 kg") is no statement of its own.
    """
    own = [value.object for value, _ in spans if value.memory_id == bearer]
    spans = [
        (value, by)
        for value, by in spans
        if value.memory_id == bearer or not any(differ_in_numbers_alone(value.object, each) for each in own)
    ]
    in_force = [value for value, by in spans if by is None]
    if in_force:
        return Validity(valid_from=min(value.valid_from for value in in_force))
    ended = [(value, by) for value, by in spans if by is not None]
    _, last = max(ended, key=lambda span: (span[1].valid_from, span[1].bearer_id != bearer, span[1].order))
    since = [value.valid_from for value, by in ended if by is last]
    return Validity(
        valid_from=min(since), valid_to=last.valid_from, superseded_by=last.bearer_id, ended_by=last.turn_id
    )
