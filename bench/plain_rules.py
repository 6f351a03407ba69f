"""Is what a message tells remembered, and nothing of one that tells nothing?

    python -m bench.plain_rules [--set small_talk] [--verbose]

`sets/plain_rules.jsonl` has plain rules for an assistant ("Use metric units.") and instructions, questions and requests
in similar words ("use metric units here"), with what was said before (`q`). `sets/small_talk.jsonl` has small talk with
one thing about the writer in it, and without. `bench/README.md` says who wrote them.
"""

from __future__ import annotations

import argparse
import json
from typing import Any, NamedTuple

from bench.memory_scoring import has_words
from bench.memory_texts import SETS, STATING
from bench.report import print_table
from bench.rules import candidates_of_messages
from reverie.policy import load_policy

#: What the messages of each set are that tell something to keep, and the others.
NAMES = {
    "plain_rules": ("rules: remembered", "instructions and requests: nothing kept"),
    "small_talk": ("things told in small talk: remembered", "small talk: nothing kept"),
}


class Told(NamedTuple):
    """A message of the set, with the statements that memory would keep of it."""

    entry: dict[str, Any]
    kept: list[str]

    @property
    def is_right(self) -> bool:
        """Whether what it tells is kept with its words, or nothing of a message that tells nothing."""
        if not self.entry["keep"]:
            return not self.kept
        return any(has_words(content, word) for content in self.kept for word in self.entry["words"])


def told(policy_name: str, name: str) -> list[Told]:
    """Read a set with a policy."""
    lines = (SETS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    messages = [(entry["text"], entry.get("q")) for entry in entries]
    found = candidates_of_messages(load_policy(policy_name), messages)
    return [
        Told(entry, [one.content for one in candidates if one.kind in STATING])
        for entry, candidates in zip(entries, found, strict=True)
    ]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", default="reverie")
    parser.add_argument("--set", default="plain_rules", choices=NAMES)
    parser.add_argument("--verbose", action="store_true", help="show what is not right")
    given = parser.parse_args()
    read = told(given.policy, given.set)
    of_kind = [[one for one in read if one.entry["keep"] is kind] for kind in (True, False)]
    print_table(given.set.replace("_", " ").capitalize(), ("", "right"), [
        (name, f"{sum(one.is_right for one in some) / len(some):.3f} ({sum(one.is_right for one in some)}/{len(some)})")
        for name, some in zip(NAMES[given.set], of_kind, strict=True)
    ])  # fmt: skip
    if given.verbose:
        wrong = [(one.entry["id"], one.entry["text"], "; ".join(one.kept)) for one in read if not one.is_right]
        print_table("Not right", ("message", "text", "kept"), wrong)


if __name__ == "__main__":
    main()
