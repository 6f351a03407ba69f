"""Are plain rules remembered, and instructions for one text not? `python -m bench.plain_rules [--verbose]`.

`sets/plain_rules.jsonl` has plain rules for an assistant ("Use metric units.") and instructions, questions and requests
in similar words ("use metric units here"), with what was said before (`q`). `bench/README.md` says who wrote them.
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


class Told(NamedTuple):
    """A message of the set, with the statements that memory would keep of it."""

    entry: dict[str, Any]
    kept: list[str]

    @property
    def is_right(self) -> bool:
        """Whether a rule is kept with its words, or nothing of another message."""
        if not self.entry["rule"]:
            return not self.kept
        return any(has_words(content, word) for content in self.kept for word in self.entry["words"])


def told(policy_name: str) -> list[Told]:
    """Read the set with a policy."""
    lines = (SETS / "plain_rules.jsonl").read_text(encoding="utf-8").splitlines()
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
    parser.add_argument("--verbose", action="store_true", help="show what is not right")
    given = parser.parse_args()
    read = told(given.policy)
    rules, others = ([one for one in read if one.entry["rule"] is kind] for kind in (True, False))
    print_table("Plain rules", ("", "right"), [
        (name, f"{sum(one.is_right for one in some) / len(some):.3f} ({sum(one.is_right for one in some)}/{len(some)})")
        for name, some in (("rules: remembered", rules), ("instructions and requests: nothing kept", others))
    ])  # fmt: skip
    if given.verbose:
        wrong = [(one.entry["id"], one.entry["text"], "; ".join(one.kept)) for one in read if not one.is_right]
        print_table("Not right", ("message", "text", "kept"), wrong)


if __name__ == "__main__":
    main()
