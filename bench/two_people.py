"""Does each fact belong to the right person? `python -m bench.two_people [--verbose]`.

`sets/two_people.jsonl` has messages about two or three people, with whose each fact is ("I have a peanut allergy, and
my son is lactose intolerant."). `bench/README.md` says who wrote them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bench.memory_texts import SETS, STATING
from bench.natural import has, plain
from bench.report import print_table
from bench.rules import candidates_of_messages
from reverie.policy import load_policy


class Fact(NamedTuple):
    """A fact of a message, with the statements that say it."""

    text: str
    what: str
    #: statements of whose it is; the person's own words count if they name her
    right: list[str]
    #: statements in other words than the person's that name somebody else, or nobody where somebody should be
    wrong: list[str]


def judge_facts(entry: Mapping[str, Any], kept: Sequence[str]) -> list[Fact]:
    """Return the facts of a message of the set, given the statements that are kept of it."""
    everybody = {name for fact in entry["facts"] for name in fact["who"]}

    def names(content: str, people: Sequence[str]) -> bool:
        return any(has(plain(content), name) for name in people)

    def judge(fact: Mapping[str, Any]) -> Fact:
        saying = [content for content in kept if all(has(plain(content), word) for word in fact["what"])]
        own = [content for content in saying if content.strip(" .") in entry["t"]]
        worded = [content for content in saying if content not in own]
        others = sorted(everybody - set(fact["who"]))
        right = [
            content
            for content in worded
            if (names(content, fact["who"]) if fact["who"] else not names(content, others))
        ]
        named = [content for content in own if not fact["who"] or names(content, fact["who"])]
        wrong = [content for content in worded if content not in right]
        return Fact(entry["t"], " ".join(fact["what"]), [*right, *named], wrong)

    return [judge(fact) for fact in entry["facts"]]


def facts(policy_name: str) -> list[Fact]:
    """Read the set with a policy."""
    entries = [json.loads(line) for line in (SETS / "two_people.jsonl").read_text(encoding="utf-8").splitlines()]
    found = candidates_of_messages(load_policy(policy_name), [(entry["t"], None) for entry in entries])
    return [
        fact
        for entry, candidates in zip(entries, found, strict=True)
        for fact in judge_facts(entry, [one.content for one in candidates if one.kind in STATING])
    ]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", default="reverie")
    parser.add_argument("--verbose", action="store_true", help="show what is not right")
    given = parser.parse_args()
    read = facts(given.policy)
    print_table("Facts of several people", ("", "facts"), [
        (name, f"{number / len(read):.3f} ({number}/{len(read)})")
        for name, number in (
            ("a statement says whose it is", sum(bool(one.right) for one in read)),
            ("a statement gives it to somebody else", sum(bool(one.wrong) for one in read)),
        )
    ])  # fmt: skip
    if given.verbose:
        missed = [(one.text, one.what, "; ".join(one.wrong)) for one in read if one.wrong or not one.right]
        print_table("Not right", ("message", "fact", "given to somebody else"), missed)


if __name__ == "__main__":
    main()
