"""The slot of a statement in a relation that has one value for each topic; pure.

"Workshop rate" and "the rate for workshops" are one slot. Statements are processed in event order: a later one never
changes the slot of an earlier one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from operator import attrgetter
from uuid import UUID

from reverie.consolidate.facts.references import referred
from reverie.consolidate.facts.statements import StatedValue
from reverie.language.objects import narrower, same
from reverie.language.topics import head_words, is_shared_role, topic_words, unit_words


@dataclass(slots=True)
class _Known:
    """The slots of one relation of one person."""

    #: The latest value of each slot, by the words of the slot.
    latest: dict[frozenset[str], StatedValue] = field(default_factory=dict)


def with_slots(stated: Iterable[StatedValue]) -> Iterator[StatedValue]:
    """Yield the values in event order, with the slots of those that have topics."""
    known: dict[tuple[str, str, str], _Known] = {}
    placed: dict[UUID, StatedValue] = {}
    for value in sorted(stated, key=attrgetter("order")):
        if value.ends_memory is not None:  # it has the slot of the value that it ends
            there = placed.get(value.ends_memory, value)
            yield replace(value, is_single=there.is_single, slot=there.slot)
            continue
        there = _placed(value, known)
        placed[value.bearer_id] = there
        yield there


def _placed(value: StatedValue, known: dict[tuple[str, str, str], _Known]) -> StatedValue:
    """Return the value with its slot."""
    if value.is_keyed or not (value.is_single or value.is_role):
        return value
    of_relation = known.setdefault((value.subject_id, value.speaker, value.relation), _Known())
    slot = _slot(value, of_relation)
    if slot is None:
        return replace(value, is_single=False)
    if value.phase in ("holds", "begins", "adds"):
        of_relation.latest[slot] = value
    return replace(value, is_single=True, slot=" ".join(sorted(slot)))


def _slot(value: StatedValue, known: _Known) -> frozenset[str] | None:
    """Return the words of a value's slot; None: the value is one of many."""
    words = topic_words(value.topic)
    if not value.topic and value.needs_topic:
        # the topic of "three mechanics" is mechanics
        words = unit_words(value.object)
        if not words:
            return None
    elif not words and value.phase in ("holds", "adds", "planned"):
        words = frozenset(value.topic.split())
    if value.phase in ("ends", "past"):
        # the object says more than the topic: "52 an hour instead of 48", where 48 was called the charge
        named = [slot for slot in known.latest if _is_in(value, known, slot)]
        if words not in named and len(named) == 1:
            return named[0]
        if words not in known.latest and value.refers:
            named = referred(value, list(known.latest), known.latest.__getitem__)
            if len(named) == 1:
                return named[0]
    if words in known.latest and (words or not value.is_role):
        return words
    # the end of somebody whose role is unknown is one of many
    is_many = not words or is_shared_role(value.topic) or value.phase in ("ends", "past")
    if value.is_role and is_many and not value.is_single:
        return None
    if value.phase == "begins" and value.is_role and not words and len(known.latest) == 1:
        return next(iter(known.latest))
    if value.topic and value.phase in ("begins", "ends"):
        # "raised the rate", if only one rate is known
        near = [slot for slot, there in known.latest.items() if _is_nearly(words, value, slot, there)]
        if len(near) == 1:
            return near[0]
    return words


def _is_nearly(words: frozenset[str], value: StatedValue, slot: frozenset[str], there: StatedValue) -> bool:
    """Return whether one topic is short for the other: "rate" or "workshop" of a figure; of others only the head."""
    if not words:
        return True
    if value.needs_topic:
        return words < slot or (bool(slot) and slot < words)
    is_shorter = words < slot and head_words(there.topic) <= words
    return is_shorter or (bool(slot) and slot < words and head_words(value.topic) <= slot)


def _is_in(value: StatedValue, known: _Known, slot: frozenset[str]) -> bool:
    there = known.latest[slot].object
    return same(there, value.object) or narrower(there, value.object) or narrower(value.object, there)
