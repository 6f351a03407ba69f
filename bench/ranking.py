"""The weights of recall, fitted over folds of conversations: the current signals, and smaller models.

    python -m bench.ranking [--sets locomo realtalk prefeval locomo_plus] [--data FOLDER] [--work FOLDER]

Each conversation is ranked by weights fitted on the other conversations of all sets, from zero, with a small penalty on
their size. The weights of the policy, which were chosen on the same conversations, are not used. `shipped` are the
policy's weights on all conversations, an in-sample figure. Intervals are of the difference in R@10 to the current
signals over folds, 95 %, by a bootstrap over conversations.

Conversations that several sets share, such as those with planted statements, are one fold. The database is kept under
--work, so that a second run finds every vector in the cache.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from bench.report import print_table
from reverie.evaluate.ranking.examples import examples_of, load_set
from reverie.evaluate.ranking.fitting import FEWEST
from reverie.evaluate.ranking.scratch import scratch_database
from reverie.evaluate.ranking.sets import SETS, read_set
from reverie.evaluate.ranking.weights import Example, Quality, fit_weights, mean, qualities
from reverie.inference import load_embedder
from reverie.policy import QUERY_KINDS, SIGNALS, QueryKind, RecallPolicy, load_policy

#: Strength of the penalty; .002 gives the same figures, .2 lower ones.
HOLD = 0.02
DRAWS = 4000

#: Smaller models for each kind of query, beside the current signals.
SMALLER: Mapping[QueryKind, Mapping[str, tuple[str, ...]]] = {
    "question": {
        "without asks": (
            "similarity", "lexical", "answers", "session_similarity", "speaker", "date", "first_person", "names_time",
            "assistant", "asked_assistant",
        ),
        "6 signals": ("similarity", "lexical", "answers", "session_similarity", "speaker", "date"),
        "5 signals": ("similarity", "lexical", "session_similarity", "speaker", "date"),
        "4 signals": ("similarity", "lexical", "session_similarity", "speaker"),
    },
    "message": {
        "5 signals": ("similarity", "first_person", "asks", "standing", "length"),
        "4 signals": ("similarity", "first_person", "standing", "length"),
    },
    "request": {
        "5 signals": ("similarity", "first_person", "asks", "standing", "length"),
        "4 signals": ("similarity", "first_person", "standing", "length"),
    },
}  # fmt: skip
#: One set of weights for all kinds of query.
FOR_ALL: Mapping[str, tuple[str, ...]] = {
    "one set for all kinds, 6": ("similarity", "lexical", "session_similarity", "speaker", "first_person", "standing"),
    "one set for all kinds, all": SIGNALS,
}

#: The quality of rankings by set and kind, then by conversation.
Found = dict[tuple[str, QueryKind], dict[str, list[Quality]]]


def over_folds(examples: Sequence[Example], signals: Sequence[str]) -> Found:
    """Return how well each conversation is ranked by weights fitted on the others."""
    found: Found = defaultdict(lambda: defaultdict(list))
    for group in dict.fromkeys(each.group for each in examples):
        weights = fit_weights([each for each in examples if each.group != group], {}, signals, hold=HOLD)
        _add(found, [each for each in examples if each.group == group], weights)
    return found


def in_sample(examples: Sequence[Example], weights: Mapping[str, float]) -> Found:
    """Return how well these weights rank."""
    found: Found = defaultdict(lambda: defaultdict(list))
    _add(found, examples, weights)
    return found


def _add(found: Found, examples: Sequence[Example], weights: Mapping[str, float]) -> None:
    for each, quality in zip(examples, qualities(examples, weights), strict=True):
        found[each.source, each.kind][each.group].append(quality)


def interval(found: Mapping[str, list[Quality]], other: Mapping[str, list[Quality]]) -> str:
    """Return the interval of the difference in R@10, over conversations."""
    sums = np.array(
        [sum(q.recall_10 for q in found[group]) - sum(q.recall_10 for q in other[group]) for group in found]
    )
    counts = np.array([len(each) for each in found.values()])
    drawn = np.random.default_rng(0).integers(0, len(sums), (DRAWS, len(sums)))
    low, high = np.quantile(sums[drawn].sum(1) / counts[drawn].sum(1), (0.025, 0.975))
    return f"{low:+.3f} to {high:+.3f}"


def rows_of(label: str, numbers: int, found: Found, today: Found | None) -> Iterator[tuple[str, ...]]:
    """Yield a row for each set."""
    for (source, kind), by_group in found.items():
        each = [quality for several in by_group.values() for quality in several]
        figures = (f"{value:.3f}" for value in mean(each))
        against = interval(by_group, today[source, kind]) if today else ""
        yield kind, source, str(len(each)), label, str(numbers), *figures, against


def report(examples: Sequence[Example], policy: RecallPolicy) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the report."""
    per_source = Counter((each.source, each.kind) for each in examples)
    examples = [each for each in examples if per_source[each.source, each.kind] >= FEWEST]
    all_today: Found = {}
    for kind in QUERY_KINDS:
        of_kind = [each for each in examples if each.kind == kind]
        if not of_kind:
            continue
        weights = {name: weight for name, weight in policy.weights_for(kind).items() if weight}
        today = over_folds(of_kind, list(weights))
        all_today |= today
        yield from rows_of("today's signals, folds", len(weights), today, None)
        yield from rows_of("shipped, in sample", len(weights), in_sample(of_kind, weights), today)
        for label, signals in SMALLER[kind].items():
            yield from rows_of(f"{label}, folds", len(signals), over_folds(of_kind, signals), today)
    for label, signals in FOR_ALL.items():
        yield from rows_of(f"{label}, folds", len(signals), over_folds(examples, signals), all_today)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", nargs="+", choices=SETS, default=["locomo", "realtalk", "prefeval", "locomo_plus"])
    parser.add_argument("--policy", default="reverie")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "reverie-bench-ranking")
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.exit(1, f"The public data sets are not at {options.data}.\n")
    policy, embedder = load_policy(options.policy), load_embedder("minilm")
    examples: list[Example] = []
    with scratch_database(options.work) as store:
        for name in options.sets:
            print(f"Reading {name}.", flush=True)
            labelled = read_set(name, options.data)
            load_set(store, labelled, policy=policy, embedder=embedder)
            examples += examples_of(store, name, labelled.queries, policy=policy, embedder=embedder)
    columns = ("kind", "set", "queries", "weights", "numbers", "R@5", "R@10", "NDCG@10", "R@10 against today's")
    print_table("Weights over folds of conversations", columns, list(report(examples, policy.recall)))


if __name__ == "__main__":
    main()
