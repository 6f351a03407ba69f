"""The scaffold: which of two values stands, that none is lost, and how nested objects become entries and back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.model.scaffold import (
    BASES,
    Basis,
    ProfileEntry,
    folded_key,
    nested_values,
    opened_json,
    resolve_entries,
    scaffold_leaves,
)

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def entry(
    number: int, *path: str, value: Any = "x", basis: Basis = "said", sure: float = 0.9, **more: Any
) -> ProfileEntry:
    return ProfileEntry(
        id=UUID(int=number), connection_id="", path=path, value=value, confidence=sure, basis=basis,
        valid_from=AT + timedelta(days=number), sources=(UUID(int=number),), **more,
    )  # fmt: skip


def became(*entries: ProfileEntry, most: int = 100) -> dict[int, tuple[str, int | None]]:
    """State, and what stands against it, by number."""
    held, _ = resolve_entries(entries, most=most)
    return {one.entry.id.int: (one.state, one.by.id.int if one.by else None) for one in held}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # better founded wins, whichever came first
        ({"basis": "said"}, {"basis": "autonomous", "sure": 1.0}, {1: ("active", None), 2: ("outweighed", 1)}),
        ({"basis": "autonomous"}, {"basis": "said", "sure": 0.1}, {1: ("replaced", 2), 2: ("active", None)}),
        (
            {"basis": "said", "sure": 1.0},
            {"basis": "correction", "sure": 0.5},
            {1: ("replaced", 2), 2: ("active", None)},
        ),
        ({"basis": "inferred", "sure": 1.0}, {"basis": "autonomous"}, {1: ("replaced", 2), 2: ("active", None)}),
        # founded alike, the surer; alike in both, the newer
        ({"sure": 0.9}, {"sure": 0.8}, {1: ("active", None), 2: ("outweighed", 1)}),
        ({"sure": 0.8}, {"sure": 0.9}, {1: ("replaced", 2), 2: ("active", None)}),
        ({}, {}, {1: ("replaced", 2), 2: ("active", None)}),
    ],
)
def test_which_of_two_values_stands(first: Any, second: Any, expected: Any) -> None:
    one, two = entry(1, "Role", value="nurse", **first), entry(2, "role", value="doctor", **second)
    assert became(one, two) == became(two, one) == expected


def test_what_is_said_again_holds_since_it_was_said_first() -> None:
    assert became(entry(1, "Role"), entry(2, "Role")) == {1: ("active", None), 2: ("repeated", 1)}
    surer = entry(2, "Role", basis="correction")
    assert became(entry(1, "Role"), surer) == {1: ("repeated", 2), 2: ("active", None)}


def test_a_value_in_place_of_an_object_replaces_what_was_in_it() -> None:
    inside = [entry(1, "Projects", "a"), entry(2, "Projects", "b")]
    assert became(*inside, entry(3, "Projects")) == {1: ("replaced", 3), 2: ("replaced", 3), 3: ("active", None)}
    assert became(entry(1, "Projects"), entry(2, "Projects", "b")) == {1: ("replaced", 2), 2: ("active", None)}
    weak = entry(3, "Projects", basis="inferred")
    assert became(*inside, weak)[3] == ("outweighed", 1)


def test_an_end_is_kept_and_shows_nothing() -> None:
    held, _ = resolve_entries([entry(1, "Role", value="nurse"), entry(2, "Role", value=None)], most=10)
    assert [(one.state, one.valid_to) for one in held] == [("replaced", AT + timedelta(days=2)), ("active", None)]
    assert nested_values((one.entry.path, one.entry.value) for one in held if one.state == "active") == {}


def test_there_is_room_for_so_many() -> None:
    many = [entry(number, f"key {number}") for number in range(1, 6)]
    held, surplus = resolve_entries(many, most=3)
    assert len(held) == 3 and surplus == {UUID(int=4), UUID(int=5)}
    held, surplus = resolve_entries([*many[:3], entry(9, "key 1", value="new")], most=3)
    assert not surplus, "a change needs no room"
    ended = [entry(1, "key 1"), entry(2, "key 1", value=None), entry(3, "key 2")]
    held, surplus = resolve_entries(ended, most=1)
    assert not surplus and len(held) == 3, "an ended key needs no room"
    again = [*ended, entry(4, "key 1"), entry(5, "key 3", value=None)]
    held, surplus = resolve_entries(again, most=1)
    assert surplus == {UUID(int=4)} and len(held) == 4, "a value of an ended key needs room, an end none"


def test_only_what_rests_on_other_grounds_is_a_conflict() -> None:
    held, _ = resolve_entries([entry(1, "A"), entry(2, "A", value="y")], most=9)
    assert [one.is_conflict for one in held] == [False, False], "the newer of two that were said"
    for pair in (("said", "autonomous"), ("autonomous", "said")):
        one, two = (entry(number, "A", value=number, basis=basis) for number, basis in enumerate(pair, 1))
        assert sum(each.is_conflict for each in resolve_entries([one, two], most=9)[0]) == 1


paths = st.lists(st.sampled_from(["Role", "role", "Projects", "a", "b"]), min_size=1, max_size=3).map(tuple)
stated = st.lists(
    st.tuples(paths, st.sampled_from(["x", "y", None, 3]), st.sampled_from(BASES), st.sampled_from([0.2, 0.9])),
    max_size=14,
)


@settings(max_examples=60)
@given(stated, st.randoms(), st.integers(0, 14))
def test_folding_depends_on_event_order_alone(said: list[Any], dice: Any, cut: int) -> None:
    entries = [
        entry(number, *path, value=value, basis=basis, sure=sure)
        for number, (path, value, basis, sure) in enumerate(said, 1)
    ]
    held, surplus = resolve_entries(entries, most=100)
    by_id = {one.entry.id: one for one in held}
    assert not surplus and by_id.keys() == {one.id for one in entries}, "none is lost"
    shuffled = dice.sample(entries, len(entries))
    assert {one.entry.id: one for one in resolve_entries(shuffled, most=100)[0]} == by_id
    # in two rounds, the first of which is stored: as at once
    first, _ = resolve_entries(entries[:cut], most=100)
    again, _ = resolve_entries(
        [*(one.entry for one in first), *entries[cut:]], most=100, known=[one.entry.id for one in first]
    )
    assert {one.entry.id: one for one in again} == by_id
    active = [one.entry for one in held if one.state == "active"]
    for one in active:  # one value a path, and none above or below another
        assert not any(two is not one and two.place[: len(one.place)] == one.place for two in active)
    for one in held:
        assert (one.by is None) == (one.state == "active")
        assert one.by is None or one.by.weight >= one.entry.weight
        assert (one.valid_to is not None) == (one.state == "replaced")


integers = st.integers(-(2**63), 2**63 - 1)
keys = st.text("abc", min_size=1, max_size=2)
objects = st.recursive(
    st.one_of(integers, st.booleans(), st.text("xyz", min_size=1), st.lists(integers, min_size=1)),
    lambda inner: st.dictionaries(keys, inner, min_size=1, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40)
@given(st.dictionaries(keys, objects, max_size=4))
def test_an_object_is_its_leaves(whole: dict[str, Any]) -> None:
    assert nested_values((path, value) for path, value, _ in scaffold_leaves(whole, depth=9)) == whole
    said = json.dumps({key: json.dumps(value) for key, value in whole.items()})
    assert list(scaffold_leaves(said, depth=9)) == list(scaffold_leaves(json.loads(said), depth=9)), "in strings or not"


def test_json_in_strings_is_opened_however_deep() -> None:
    inner = json.dumps({"toolstream": json.dumps({"stage": "beta"})})
    assert opened_json({"Projects": inner}) == {"Projects": {"toolstream": {"stage": "beta"}}}
    assert opened_json("{not json") == "{not json" and opened_json("42") == "42" and opened_json("null") is None
    assert opened_json([2**63, "[-9223372036854775809]", 2**63 - 1]) == [str(2**63), [str(-(2**63) - 1)], 2**63 - 1]
    assert opened_json("a\0b\ud800") == "ab?" and opened_json(float("inf")) == ""


def test_leaves_have_a_depth_and_may_say_how_sure_they_are() -> None:
    whole = {"a": {"b": {"c": {"d": 1}}}, "Role": {"value": "nurse", "confidence": 0.4}, " ": 1, "e": "", "f": {}}
    assert list(scaffold_leaves(whole, depth=2)) == [(("a", "b"), {"c": {"d": 1}}, None), (("Role",), "nurse", 0.4)]
    assert list(scaffold_leaves({"Odds": {"value": 1, "confidence": 7}}, depth=2)) == [
        (("Odds", "value"), 1, None), (("Odds", "confidence"), 7, None)
    ]  # fmt: skip
    assert folded_key("Job_Title") == folded_key("job  title") == "job title" and folded_key("!") == "!"
    assert folded_key("Café") == folded_key("Cafe\u0301")


@pytest.mark.parametrize("keys", [("C++", "C#", "C"), ("दिन", "दान"), ("Age 18+", "Age 18")])
def test_keys_that_differ_in_signs_differ(keys: tuple[str, ...]) -> None:
    assert len({folded_key(key) for key in keys}) == len(keys)
    whole = {key: number for number, key in enumerate(keys)}
    assert nested_values((path, value) for path, value, _ in scaffold_leaves(whole, depth=3)) == whole


def test_signs_between_words_or_alone_part_them() -> None:
    assert folded_key("Pros+Cons") == folded_key("pros + cons") == "pros cons"
    assert folded_key("Item #7") == folded_key("item#7") == "item 7"
    assert folded_key("\u2764\ufe0f Life") == "life"
