"""The savings and losses of `[extract.model] when = "unsure"`, as a curve, before and after distillation.

    python -m bench.unsure [--policy reverie] [--distill]

Uses the messages of the part `test` of training/reader/voices, from people whom the reader never saw. The peer is a
language model that reads every message without a mistake: its answer is the labels. The curve shows how many messages
it need not be asked about, and how well the resulting statements agree with those of asking about every message.

`--distill`: the messages of `dev` and `test` belong to a tenant, and the scripted server is its language model, which
replies to each of them. `reverie reader distill` learns from the replies about some people and is measured on the
others; a message that the model would be asked about counts with the model's answer. A second model keeps only what
lasts. Takes some minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence, Set
from datetime import UTC, datetime

import polars as pl

from bench.report import print_table
from bench.unsure_server import Keeps, is_lasting, learned_from
from reverie.consolidate.extract.decide import TURNS
from reverie.consolidate.extract.reading import read_messages
from reverie.evaluate.distill.distill import compare_head
from reverie.language.statements.stated import MessageStatement
from reverie.policy import Policy, load_policy
from training.reader.messages import NAMES, Message, voices

SURE = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)


def frame_of(messages: Sequence[Message]) -> pl.DataFrame:
    """Return messages as turns."""
    rows = [
        {
            "id": str(number),
            "subject_id": each.voice,
            "session_id": "s",
            "role": "user",
            "said_at": datetime(2026, 1, 1, tzinfo=UTC),
            "text": each.text,
            "asked": each.question or None,
        }
        for number, each in enumerate(messages)
    ]
    return pl.DataFrame(rows, schema=TURNS)


def labelled(message: Message) -> list[tuple[str, str]]:
    """Return relation and object of each label."""
    sides = (message.question, message.text)
    return [(NAMES[one.relation], sides[one.object[0]][one.object[1] : one.object[2]]) for one in message.labels]


def right(found: Sequence[MessageStatement], wanted: Sequence[tuple[str, str]]) -> int:
    """Return how many statements have the relation of a label and an object that overlaps with the label's."""
    left, number = list(wanted), 0
    for one in found:
        same = next((each for each in left if each[0] == one.relation and overlap(one.object, each[1])), None)
        if same is not None:
            left.remove(same)
            number += 1
    return number


def overlap(one: str, other: str) -> bool:
    """Return whether two spans share at least half of their words."""
    mine, theirs = set(one.lower().split()), set(other.lower().split())
    return len(mine & theirs) * 2 >= len(mine | theirs)


def policy_with(policy: Policy, sure: float) -> Policy:
    """Return the policy with another `sure`."""
    model = policy.extract.model.model_copy(update={"when": "unsure", "sure": sure})
    return policy.model_copy(update={"extract": policy.extract.model_copy(update={"model": model})})


def agreement(
    messages: Sequence[Message], found: Sequence[Sequence[MessageStatement]], asked: Set[int]
) -> tuple[float, float]:
    """Return F1 of all statements against the labels, and of those of messages that were not asked about."""
    counts = {True: [0, 0, 0], False: [0, 0, 0]}
    for number, (message, statements) in enumerate(zip(messages, found, strict=True)):
        wanted = labelled(message)
        of = counts[number in asked]
        of[0] += len(wanted) if number in asked else right(statements, wanted)
        of[1] += len(wanted) if number in asked else len(statements)
        of[2] += len(wanted)
    whole = [sum(each) for each in zip(*counts.values(), strict=True)]
    return tuple(2 * one[0] / max(1, one[1] + one[2]) for one in (whole, counts[False]))  # type: ignore[return-value]


def distilled(policy: Policy) -> None:
    """Print the curve before and after, for a model that keeps every label and one that keeps what lasts."""
    messages = [each for each in voices() if each.part in ("dev", "test")]
    peers: dict[str, Keeps] = {"every label": lambda label: True, "what lasts": is_lasting}
    for name, keeps in peers.items():
        examples = learned_from(messages, policy, keeps)
        found = compare_head(examples, policy)
        print_table(
            f"A model that keeps {name}: {found.fitted} turns, and {found.turns} of {found.people} people held back",
            ("calls saved", "agreement before", "after"),
            [
                (f"{old.saved:.2f}", f"{old.agreement:.3f}", f"{new.agreement:.3f}")
                for old, new in zip(found.before, found.after, strict=True)
            ],
        )
        verdict = "adopted" if found.gain.is_real else "not adopted"
        print(
            f"Errors a turn avoided: {found.gain.mean:.4f} ({found.gain.low:.4f} to {found.gain.high:.4f}): {verdict}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", default="reverie")
    parser.add_argument("--distill", action="store_true")
    given = parser.parse_args()
    policy = load_policy(given.policy)
    messages = [each for each in voices() if each.part == "test"]
    if given.distill:
        distilled(policy)
        return
    turns = frame_of(messages)
    rows = []
    for sure in SURE:
        read = read_messages(turns, policy_with(policy, sure))
        found = [read.statements.get(str(number), []) for number in range(len(messages))]
        asked = {number for number in range(len(messages)) if str(number) in read.unsure}
        whole, own = agreement(messages, found, asked)
        rows.append((sure, f"{1 - len(asked) / len(messages):.3f}", f"{whole:.3f}", f"{own:.3f}"))
    print_table(
        f"Unsure: {len(messages)} messages of the reader's test voices",
        ("sure", "calls saved", "agreement of what is read", "... where nobody was asked"),
        rows,
    )


if __name__ == "__main__":
    main()
