"""A name has one relationship: somebody with a dog Bruno has no partner or child Bruno; pure.

A reader takes "Bruno is the best thing that ever happened to me" for a statement about a partner. If the name was a
pet's before, such a statement is untrue from the beginning. A memory in the person's own words stays true: only its
relation was misread. A statement that says which relative it is ("my brother Bruno") is taken: two may have one name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from uuid import UUID

from reverie.consolidate.facts.statements import StatedValue
from reverie.language.cues.keeping import OWN_WORDS, REST
from reverie.language.objects import read_object

PET = "has_pet"
#: Relations to people, which no pet has.
KIN = frozenset(("partner", "has_child", "has_parent", "has_sibling", "has_relative", "has_friend"))

#: A statement, and the one that makes it untrue.
Untrue = tuple[StatedValue, StatedValue]


def without_pets(
    stated: Iterable[StatedValue], apart: Collection[frozenset[UUID]]
) -> tuple[list[StatedValue], list[Untrue]]:
    """Return the statements that can be true, and those about people with a pet's name, each with the pet's statement.

    `apart` has the pairs of memories that a person keeps apart: they are about two of that name.
    """
    values = list(stated)
    named: dict[tuple[str, str, frozenset[str]], StatedValue] = {}
    for value in values:
        if value.relation == PET and value.phase != "planned" and value.polarity >= 0 and (name := _name(value)):
            key = value.subject_id, value.speaker, name
            named[key] = min(named.get(key, value), value, key=lambda each: each.order)
    kept: list[StatedValue] = []
    misread: list[Untrue] = []
    for value in values:
        pet = named.get((value.subject_id, value.speaker, _name(value)))
        if pet is None or _is_another(value, pet) or frozenset((pet.bearer_id, value.bearer_id)) in apart:
            kept.append(value)
        else:
            misread.append((value, replace(pet, valid_from=value.valid_from)))
    own = {value.bearer_id for value, _ in misread if value.origin in (OWN_WORDS, REST)}
    untrue = [(value, pet) for value, pet in misread if value.bearer_id not in own]
    kept = [_about_pet(value) if value.ends_memory in own else value for value in kept]
    return kept + [_about_pet(value) for value, _ in misread if value.bearer_id in own], untrue


def _about_pet(value: StatedValue) -> StatedValue:
    """Return own words that name a pet, or their end, in a place of their own, where no rule ends them."""
    place = f"{PET}:{value.ends_memory or value.bearer_id}"
    return replace(value, relation=PET, is_single=False, is_role=False, slot=place, category=None, key=None)


def _is_another(value: StatedValue, pet: StatedValue) -> bool:
    """Return whether a value may be about somebody other than the pet of that name."""
    return value.relation not in KIN or bool(value.topic) or value.phase == "ends" or pet.order > value.order


def _name(value: StatedValue) -> frozenset[str]:
    """Return the words of a name; empty if it is not a name: "two cats"."""
    read = read_object(value.object)
    return frozenset(read.words) if read.is_proper else frozenset()
