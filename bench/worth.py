"""Is memory worth more than raw turns? Memories alone, turns alone and both, by class of question and by tokens.

    python -m bench.worth [--sets locomo realtalk] [--haystacks 1 4 16] [--step 1] [--data FOLDER] [--work FOLDER]

The score of a question is the share of its answer's content words in those of the best 60 hits that fit into 300, 500
and 1,000 tokens. R@10 is the share of its evidence turns behind the first ten hits, without a limit of tokens.
Questions whose answer is a date are left out, since a turn says "yesterday" for it; so are those whose answer has no
content word, and those that name a date, since longer haystacks move conversations in time (`bench/haystacks.py`).
Intervals are of the difference to turns alone, 95 %, by a bootstrap over conversations; few conversations give wide
ones. `--step 4` asks every fourth question. The database is kept under --work, so that a second run finds every vector
in the cache.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.haystacks import FACTORS, haystack
from bench.report import print_table
from bench.retrieval import lines, words_of
from reverie.evaluate.ranking.examples import keys_of, load_set, parsed_queries, turn_places
from reverie.evaluate.ranking.scratch import scratch_database
from reverie.evaluate.ranking.sets import LabelledQuery, LabelledSet
from reverie.evaluate.ranking.weights import measured
from reverie.inference import Embedder, load_embedder
from reverie.policy import Policy, load_policy
from reverie.recall.places.budget import within_budget
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall
from reverie.recall.result import Hit
from reverie.store.database import Store
from reverie.store.session import perform

SETS = ("locomo", "realtalk")
BUDGETS = (300, 500, 1000)
#: The most hits within a limit of tokens, and the hits of R@10, which has no such limit.
MOST = 60
FIRST = 10
UNLIMITED = 100_000
ITEMS: Mapping[str, tuple[Any, ...]] = {
    "turns": ("turn",),
    "memories": ("memory",),
    "both": ("turn", "memory"),
}
#: Classes whose answers are dates.
DATED = ("temporal",)
DRAWS = 4000


class Told(NamedTuple):
    """The share of an answer that the hits have."""

    query: LabelledQuery
    #: By method: the share of the answer's words by tokens, and of the evidence turns among the first ten (`FIRST`).
    shares: Mapping[str, Mapping[int, float]]


def limited(policy: Policy, items: tuple[Any, ...]) -> Policy:
    """Return a policy that searches only these items."""
    return policy.model_copy(update={"recall": policy.recall.model_copy(update={"items": items})})


def answers_of(data: Path, sets: Sequence[str]) -> dict[tuple[str, str], str]:
    """Return the answer of each question, by conversation and text."""
    asked = [one for name in sets for one in lines(data / f"retrieval/{name}.questions.jsonl.gz")]
    return {(one["conversation_id"], one["question"]): str(one["answer"]) for one in asked}


def told_of(
    store: Store, labelled: LabelledSet, answers: Mapping[tuple[str, str], str], policy: Policy, embedder: Embedder
) -> Iterator[Told]:
    """Yield the share of each answer that the hits have."""
    policies = {label: limited(policy, items) for label, items in ITEMS.items()}
    with store.transaction(labelled.name) as conn:
        turns = turn_places(conn, labelled.name)
        for query, question, _, at in parsed_queries(
            conn, labelled.name, labelled.queries, policy=policy, embedder=embedder
        ):
            wanted = words_of(answers[query.group, query.text])
            if not wanted or question.spans or query.category.endswith(DATED):
                continue
            shares: dict[str, dict[int, float]] = {}
            for label, numbers in policies.items():
                asked = RecallQuery(
                    text=query.text, subject_id=query.subject_id, as_of=at, top_k=MOST, token_budget=UNLIMITED
                )
                found = perform(recall(store.session(labelled.name), asked, policy=numbers, embedder=embedder))
                order = [key for key in dict.fromkeys(keys_of(found.hits[:FIRST], query, turns)) if key]
                shares[label] = {FIRST: measured(order, query.needs).recall_10}
                shares[label] |= dict(told_within(found.hits, wanted, embedder))
            yield Told(query, shares)


def told_within(hits: Sequence[Hit], wanted: frozenset[str], embedder: Embedder) -> Iterator[tuple[int, float]]:
    """Yield, for each limit of tokens, the share of the words in the hits that fit."""
    for budget in BUDGETS:
        fitting, _ = within_budget(hits, top_k=MOST, token_budget=budget, count_tokens=embedder.count_tokens)
        yield budget, len(wanted & words_of(" ".join(hit.told for hit in fitting))) / len(wanted)


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


def rows_of(factor: int, heading: str, told: Sequence[Told]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the report: each number of tokens, and the evidence among the first ten."""
    for measure in (*BUDGETS, FIRST):
        means = (f"{np.mean([one.shares[label][measure] for one in told]):.3f}" for label in ITEMS)
        differences = (interval(told, label, measure) for label in ITEMS if label != "turns")
        name = "R@10" if measure == FIRST else f"{measure:,} tokens"
        yield heading, f"{factor} x", str(len(told)), name, *means, *differences


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--haystacks", nargs="+", type=int, choices=FACTORS, default=[1])
    parser.add_argument("--policy", default="reverie")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "reverie-bench-worth")
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.exit(1, f"The public data sets are not at {options.data}.\n")
    policy, embedder = load_policy(options.policy), load_embedder("minilm")
    answers = answers_of(options.data, options.sets)
    rows: list[tuple[str, ...]] = []
    with scratch_database(options.work) as store:
        for factor in options.haystacks:
            labelled = haystack(options.sets, factor, options.data)
            labelled = replace(labelled, queries=labelled.queries[:: options.step])
            print(f"{factor} x: {len(labelled.records):,} turns", flush=True)
            load_set(store, labelled, policy=policy, embedder=embedder)
            told = list(told_of(store, labelled, answers, policy, embedder))
            rows += rows_of(factor, "all", told)
            for category in sorted({one.query.category for one in told}):
                rows += rows_of(factor, category, [one for one in told if one.query.category == category])
    columns = ("class", "haystack", "questions", "measure", *ITEMS, "memories against turns", "both against turns")
    print_table("Words of the answer told, and evidence among the first ten hits", columns, rows)


if __name__ == "__main__":
    main()
