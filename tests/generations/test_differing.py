"""Examples of a difference: some of each kind, with the words of the side that has them, the changed answers first."""

from __future__ import annotations

from reverie.generations.answer_changes import beside
from reverie.generations.differing import GenerationDiff
from reverie.generations.memory_changes import memory_changes
from tests.generations.test_answer_changes import ASKED, hits
from tests.generations.test_memory_changes import ONE, frames


def test_each_kind_of_change_has_its_examples() -> None:
    more = [(f"n{number}", "active", f"New {number}", "", f"t{number}") for number in range(5)]
    other = ("m1", "active", "Oslo is home", "", "t1")
    found = GenerationDiff(
        memory=memory_changes(frames([ONE]), frames([other, *more])),
        answers=(
            beside(ASKED, hits((1, "a")), hits((1, "a"))),
            beside(ASKED, hits((1, "a"), (2, "b")), hits((1, "a"))),
            beside(ASKED, hits((1, "a")), hits((2, "b"))),
        ),
        texts=({"m1": "Lives in Oslo"}, {"m1": "Oslo is home", "n0": "New 0", "n1": "New 1"}),
    )
    shown = found.examples(2)
    assert [(each["change"], each["before"], each["after"]) for each in shown["memories"]] == [
        ("added", None, "New 0"),
        ("added", None, "New 1"),
        ("reworded", "Lives in Oslo", "Oslo is home"),
    ]
    first, second = shown["answers"]
    assert (first["after"][0]["content"], len(second["before"])) == ("b", 2)
    assert found.counts()["memories_added"] == 5 and found.counts()["answers_changed"] == 2
