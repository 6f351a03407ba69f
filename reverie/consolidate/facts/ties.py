"""Statements of one relation that end values of another: a break-up ends a marriage; pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from reverie.consolidate.facts.relationships import KIN, PET
from reverie.consolidate.facts.statements import StatedValue
from reverie.language.objects import place_of_work, read_object
from reverie.language.pack import language_table
from reverie.language.topics import telling_words
from reverie.policy.relations import Relation

_PACK = language_table("ties")

#: Marital states that a break-up ends, and those that say that there is no partner.
_PAIRED = _PACK.word_set("paired")
_ALONE = _PACK.word_set("alone")
#: Occupations without an employer.
_UNEMPLOYED = _PACK.word_set("unemployed")

#: Groups of relations in which a statement of one may end values of another.
TIED = (frozenset(("partner", "marital_status")), frozenset(("works_at", "works_as")), KIN | {PET})


def with_tied(relations: Collection[str], table: Mapping[str, Relation]) -> set[str]:
    """Return the relations and all that are tied to them, by `TIED` or by the policy's `table`."""
    found = frozenset(relations).union(*(table[name].ends for name in relations if name in table))
    while more := frozenset().union(*(tied for tied in TIED if tied & found)) - found:
        found |= more
    return set(found) | {name for name, relation in table.items() if found.intersection(relation.ends)}


def with_dropping(table: Mapping[str, Relation]) -> set[str]:
    """Return the relations whose ends drop plans in others, and all that are tied to them."""
    return with_tied({name for name, relation in table.items() if relation.ends_planned}, table)


def follow(stated: Iterable[StatedValue]) -> Iterator[StatedValue]:
    """Yield the statements, and after each the ends that follow from it in other relations."""
    values = list(stated)
    planned = [value for value in values if value.phase == "planned"]
    slots: dict[tuple[str, str, str], dict[str, None]] = {}
    for value in values:
        slots.setdefault((value.subject_id, value.speaker, value.relation), {})[value.slot] = None
    for value in values:
        yield value
        if value.ends_planned and value.phase == "ends":
            yield from _dropped(value, planned)
        if (elsewhere := _elsewhere(value)) is not None:
            end = replace(
                value, topic="", slot="", phase="ends", category=None, key=None, is_single=True, relation=elsewhere[0]
            )
            yield replace(end, ends_words=elsewhere[1], ends_elsewhere=True)
        for relation, words in _ended(value):
            end = replace(value, relation=relation, topic="", slot="", phase="ends", category=None, key=None)
            yield replace(end, is_single=True, ends_words=words)
        for relation in value.ends if value.phase == "ends" else ():
            words = frozenset(read_object(value.object).words)
            end = replace(value, relation=relation, topic="", category=None, key=None, is_single=True, ends=())
            for slot in slots.get((value.subject_id, value.speaker, relation), ()):
                yield replace(end, slot=slot, ends_words=words, ends_named=True)


def _dropped(value: StatedValue, planned: Iterable[StatedValue]) -> Iterator[StatedValue]:
    """Yield ends for the plans in other relations that share a word with what fell through."""
    words = telling_words(value.object)
    for plan in planned:
        is_of_same = (plan.subject_id, plan.speaker) == (value.subject_id, value.speaker)
        is_meant = not words.isdisjoint(telling_words(plan.object))
        if is_of_same and is_meant and plan.relation != value.relation and plan.order < value.order:
            yield replace(
                value, relation=plan.relation, object=plan.object, topic="", slot=plan.slot, is_single=True, ends=(),
                category=None, key=None, ends_words=frozenset(), drops_plan=True,
            )  # fmt: skip


def _elsewhere(value: StatedValue) -> tuple[str, frozenset[str]] | None:
    """Return the relation in which a new place of work ends values that name another, and the words of the new one."""
    if value.phase != "begins":
        return None
    if value.relation == "works_at" and read_object(value.object).is_proper:
        return "works_as", frozenset(read_object(value.object).words)
    if value.relation == "works_as" and (place := place_of_work(value.object)):
        return "works_at", frozenset(read_object(place).words)
    return None


def _ended(value: StatedValue) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the relations in which a statement ends values, and words of which these have one; no words: any value."""
    if value.relation == "partner" and value.phase == "ends":
        yield "marital_status", _PAIRED
    is_alone = value.relation == "marital_status" and not _ALONE.isdisjoint(read_object(value.object).words)
    if is_alone and value.phase in ("holds", "begins"):
        yield "partner", frozenset()
    if value.relation == "partner" and value.phase in ("holds", "begins"):
        yield "marital_status", _PACK.word_set("single")
    if value.relation == "works_at" and value.phase == "ends" and read_object(value.object).is_proper:
        yield "works_as", frozenset(read_object(value.object).words)
    is_free = value.relation == "works_as" and not _UNEMPLOYED.isdisjoint(read_object(value.object).words)
    if is_free and value.phase == "begins":
        yield "works_at", frozenset()
