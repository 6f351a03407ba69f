"""What differs between two memories, decided on frames: each kind of change once."""

from __future__ import annotations

import polars as pl

from reverie.generations.memory_changes import _ENTRIES, _FACTS, _MEMORIES, MemoryFrames, memory_changes


def frames(memories: list[tuple[str, ...]], facts: list[tuple[str, str]] = [], entries: list[str] = []) -> MemoryFrames:  # noqa: B006
    """A memory of ana: (id, state, words, superseded_by, sources), (key, value), and texts of her profile."""
    rows = [("ana", id_, state, words, by or None, sources) for id_, state, words, by, sources in memories]
    return MemoryFrames(
        memories=pl.DataFrame(
            [(id_, who, "fact", state, words, None, by, sources) for who, id_, state, words, by, sources in rows],
            schema=_MEMORIES, orient="row",
        ),
        facts=pl.DataFrame(
            [("ana", "", "identity", key, value) for key, value in facts],
            schema=dict.fromkeys(_FACTS, pl.String), orient="row",
        ),
        entries=pl.DataFrame(
            [("ana", "", "likes", value) for value in entries],
            schema=dict.fromkeys(_ENTRIES, pl.String), orient="row",
        ),
    )  # fmt: skip


def changes(first: MemoryFrames, second: MemoryFrames) -> set[tuple[str, str | None, str | None]]:
    return set(memory_changes(first, second).memories.select("change", "before", "after").iter_rows())


ONE = ("m1", "active", "Lives in Oslo", "", "t1")


def test_equal_memories_differ_in_nothing() -> None:
    one = frames([ONE], [("home", "Oslo")], ["tea"])
    found = memory_changes(one, one)
    assert not found.memories.height and not found.facts.height and not found.entries.height
    assert found.counts()["memories_before"] == found.counts()["memories_after"] == 1
    assert found.counts()["subjects_changed"] == 0


def test_what_one_lacks_is_added_or_gone() -> None:
    other = ("m2", "active", "Has a dog", "", "t2")
    assert changes(frames([ONE]), frames([ONE, other])) == {("added", None, "m2")}
    assert changes(frames([ONE, other]), frames([ONE])) == {("gone", "m2", None)}


def test_other_words_of_the_same_turns_are_a_rewording() -> None:
    assert changes(frames([ONE]), frames([("m1", "active", "Oslo is home", "", "t1")])) == {("reworded", "m1", "m1")}
    assert changes(frames([ONE]), frames([("m9", "active", "Oslo is home", "", "t1")])) == {("reworded", "m1", "m9")}


def test_of_the_same_turns_the_surplus_is_added() -> None:
    split = [("m7", "active", "Lives there", "", "t1"), ("m8", "active", "In Oslo", "", "t1")]
    assert changes(frames([ONE]), frames(split)) == {("reworded", "m1", "m7"), ("added", None, "m8")}


def test_what_has_no_turns_is_never_paired() -> None:
    gone, added = ("p1", "active", "Often hikes", "", ""), ("p2", "active", "Hikes a lot", "", "")
    assert changes(frames([gone]), frames([added])) == {("gone", "p1", None), ("added", None, "p2")}


def test_another_supersession_is_a_restatement() -> None:
    ended = ("m1", "superseded", "Lives in Oslo", "m2", "t1")
    assert changes(frames([ONE]), frames([ended])) == {("restated", "m1", "m1")}
    assert changes(frames([ended]), frames([("m1", "superseded", "Lives in Oslo", "m3", "t1")])) == {
        ("restated", "m1", "m1")
    }


def test_values_of_a_key_are_set_beside_each_other() -> None:
    found = memory_changes(
        frames([], [("home", "Oslo"), ("pet", "Rex")], ["tea"]), frames([], [("home", "Bergen"), ("job", "nurse")], [])
    )
    assert sorted(found.facts.select("key", "before", "after").iter_rows()) == [
        ("home", "Oslo", "Bergen"),
        ("job", None, "nurse"),
        ("pet", "Rex", None),
    ]
    counts = found.counts()
    assert (counts["facts_added"], counts["facts_gone"], counts["facts_changed"]) == (1, 1, 1)
    assert counts["profile_entries_gone"] == 1 and counts["subjects_changed"] == 1
