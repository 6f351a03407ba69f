"""Is memory worth more than raw turns? Memories alone, turns alone and both, by class of question and by tokens.

    python -m bench.worth [--data ../shared/data] [--sets locomo realtalk] [--step 1] [--work FOLDER]

A question counts as told by the share of its answer's content words that the hits hold which fit into 300, 500 and
1,000 tokens, and as answered where they hold all of them. Questions whose answer is a date or has no content word are
left out: a turn says "yesterday" for it. Intervals are of the difference to turns alone, 95 %, by a bootstrap over
conversations: few conversations give wide ones. `--step 4` asks every fourth question. The database is kept under
--work, so that a second run finds every vector in the cache.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.report import print_table
from bench.retrieval import lines, words_of
from reverie.evaluate.ranking.examples import load_set, parsed_queries
from reverie.evaluate.ranking.scratch import scratch_database
from reverie.evaluate.ranking.sets import LabelledQuery, read_set
from reverie.inference import Embedder, load_embedder
from reverie.policy import Policy, load_policy
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall
from reverie.store.database import Store
from reverie.store.session import perform

SETS = ("locomo", "realtalk")
BUDGETS = (300, 500, 1000)
#: Hits that may share the tokens.
MOST = 60
ITEMS: Mapping[str, tuple[Any, ...]] = {
    "turns": ("turn",),
    "memories": ("memory",),
    "both": ("turn", "memory"),
}
#: Classes whose answers are dates.
DATED = ("temporal",)
DRAWS = 4000

Shares = dict[str, dict[int, float]]


class Told(NamedTuple):
    """How much of an answer is told, by method and tokens."""

    query: LabelledQuery
    shares: Shares


def limited(policy: Policy, items: tuple[Any, ...]) -> Policy:
    """Return a policy that searches these items alone."""
    return policy.model_copy(update={"recall": policy.recall.model_copy(update={"items": items})})


def answers_of(data: Path, name: str) -> dict[tuple[str, str], str]:
    """Return the answer of each question, by conversation and text."""
    asked = lines(data / f"retrieval/{name}.questions.jsonl.gz")
    return {(one["conversation_id"], one["question"]): str(one["answer"]) for one in asked}


def told_of(store: Store, name: str, data: Path, policy: Policy, embedder: Embedder, step: int) -> Iterator[Told]:
    """Yield how much of each answer is told."""
    answers, asked = answers_of(data, name), read_set(name, data).queries[::step]
    policies = {label: limited(policy, items) for label, items in ITEMS.items()}
    with store.transaction(name) as conn:
        for query, _, _, at in parsed_queries(conn, name, asked, policy=policy, embedder=embedder):
            wanted = words_of(answers[query.subject_id, query.text])
            if not wanted or query.category in DATED:
                continue
            shares: Shares = defaultdict(dict)
            for label, numbers in policies.items():
                for budget in BUDGETS:
                    question = RecallQuery(
                        text=query.text, subject_id=query.subject_id, as_of=at, top_k=MOST, token_budget=budget
                    )
                    found = perform(recall(store.session(name), question, policy=numbers, embedder=embedder))
                    held = words_of(" ".join(hit.told for hit in found.hits))
                    shares[label][budget] = len(wanted & held) / len(wanted)
            yield Told(query, shares)


def interval(told: Sequence[Told], label: str, budget: int) -> str:
    """Return the interval of a method's difference to turns alone, over conversations."""
    by_group: dict[str, list[float]] = defaultdict(list)
    for one in told:
        by_group[one.query.group].append(one.shares[label][budget] - one.shares["turns"][budget])
    sums = np.array([sum(each) for each in by_group.values()])
    counts = np.array([len(each) for each in by_group.values()])
    drawn = np.random.default_rng(0).integers(0, len(sums), (DRAWS, len(sums)))
    low, high = np.quantile(sums[drawn].sum(1) / counts[drawn].sum(1), (0.025, 0.975))
    return f"[{low:+.3f}, {high:+.3f}]"


def rows_of(name: str, heading: str, told: Sequence[Told]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the report: each method at each number of tokens."""
    for budget in BUDGETS:
        for label in ITEMS:
            shares = [one.shares[label][budget] for one in told]
            whole = sum(share == 1 for share in shares) / len(shares)
            difference = "" if label == "turns" else interval(told, label, budget)
            yield (
                name, heading, str(len(told)), str(budget), label, f"{np.mean(shares):.3f}", f"{whole:.3f}", difference
            )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--policy", default="reverie")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "reverie-bench-worth")
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.exit(1, f"The public data sets are not at {options.data}.\n")
    policy, embedder = load_policy(options.policy), load_embedder("minilm")
    rows: list[tuple[str, ...]] = []
    with scratch_database(options.work) as store:
        for name in options.sets:
            load_set(store, read_set(name, options.data), policy=policy, embedder=embedder)
            told = list(told_of(store, name, options.data, policy, embedder, options.step))
            rows += rows_of(name, "all", told)
            for category in sorted({one.query.category for one in told}):
                rows += rows_of(name, category, [one for one in told if one.query.category == category])
    columns = ("set", "class", "questions", "tokens", "items", "words told", "all told", "against turns")
    print_table("Answers told within a number of tokens", columns, rows)


if __name__ == "__main__":
    main()
