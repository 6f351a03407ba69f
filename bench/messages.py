"""Messages instead of questions: are the relevant turns among the first ten hits?

    python -m bench.messages [--data ../shared/data] [--sets prefeval locomo_plus memaware] [--work FOLDER]

PrefEval: a preference is stated in a LoCoMo conversation; the message is the later request. LoCoMo-Plus: a cue is said
there; the message is a later remark that shares no words with it. Each of the five conversations is a haystack with a
hundred planted statements. MemAware: requests to an assistant with 1,307 sessions of one user; the target is a session.

Beside recall, in the same run: cosine of the bare text to every turn, BM25 over turns, and a plain fusion of the two
(.6 and .4, BM25 as a share of the best). `recalled` is the answer of recall with ten places, `spoken` the hits for a
context, without those that are too far or tell too little. R@k is the share of the turns or sessions that a message
needs among the first k.
False reminders: short turns of other people's conversations as messages, for which a hit is relevant only by chance.
The database is kept under --work, so that a second run finds every vector in the cache.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.report import print_table
from reverie.evaluate.ranking.examples import keys_of, load_set, parsed_queries, turn_places
from reverie.evaluate.ranking.scratch import scratch_database
from reverie.evaluate.ranking.sets import LabelledQuery, LabelledSet, read_set
from reverie.evaluate.ranking.weights import Quality, mean, measured
from reverie.inference import Embedder, load_embedder
from reverie.policy import Policy, load_policy
from reverie.recall.query import RecallQuery
from reverie.recall.recall import recall
from reverie.recall.search import Search, search
from reverie.store.database import Store
from reverie.store.session import perform

#: Ranked candidates; many can be turns of the same session.
DEPTH = 300
#: Candidates of the plain methods; the policy's arms have fewer.
PLAIN_CANDIDATES = 2000
#: The number of words of a short turn, and the number of such messages for each haystack.
SHORT = range(4, 10)
REMINDED = 40
SETS = ("prefeval", "locomo_plus", "memaware")
FUSION = {"similarity": 0.6, "lexical": 0.4}

Results = dict[str, list[tuple[LabelledQuery, Quality]]]


def plain(policy: Policy, weights: dict[str, float]) -> Policy:
    """Return a policy that ranks raw turns by these signals alone."""
    numbers = policy.recall.model_copy(
        update={"weights": weights, "query_weights": {}, "items": ("turn",), "candidates": PLAIN_CANDIDATES}
    )
    return policy.model_copy(update={"recall": numbers})


def results_of(store: Store, labelled: LabelledSet, policy: Policy, embedder: Embedder) -> Results:
    """Return how well each method ranks each message of a set."""
    methods = {
        "reverie": policy,
        "bm25": plain(policy, {"lexical": 1.0}),
        "fusion": plain(policy, FUSION),
    }
    if not any(record["speaker"] for record in labelled.records):  # the database has the vectors of the bare texts
        methods["bare vectors"] = plain(policy, {"similarity": 1.0})
    found: Results = defaultdict(list)
    with store.transaction(labelled.name) as conn:
        turns = turn_places(conn, labelled.name)
        for query, question, vector, at in parsed_queries(
            conn, labelled.name, labelled.queries, policy=policy, embedder=embedder
        ):
            for name, is_spoken in (("recalled", False), ("spoken", True)):
                message = RecallQuery(
                    text=query.text, subject_id=query.subject_id, as_of=at, top_k=10, token_budget=100_000,
                    is_spoken=is_spoken,
                )  # fmt: skip
                answer = perform(recall(store.session(labelled.name), message, policy=policy, embedder=embedder))
                found[name].append((query, measured(distinct(keys_of(answer.hits, query, turns)), query.needs)))
            wanted = Search(
                tenant_id=labelled.name, subject_id=query.subject_id, question=question, vector=vector,
                model=embedder.model, as_of=at, ranked=DEPTH,
            )  # fmt: skip
            for name, method in methods.items():
                hits = search(conn, wanted, method)
                keys = keys_of((hit for hit, reason in hits if reason is None), query, turns)
                found[name].append((query, measured(distinct(keys), query.needs)))
    if "bare vectors" not in methods:
        found["bare vectors"] = list(bare(labelled, embedder))
    return found


def bare(labelled: LabelledSet, embedder: Embedder) -> Iterator[tuple[LabelledQuery, Quality]]:
    """Yield how well the cosine of the bare texts ranks each message."""
    haystacks: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in labelled.records:
        haystacks[record["subject_id"]].append(record)
    texts = sorted({record["text"] for record in labelled.records})
    place = {text: number for number, text in enumerate(texts)}
    vectors = embedder.encode(texts)
    rows = {subject: vectors[[place[record["text"]] for record in turns]] for subject, turns in haystacks.items()}
    asked = embedder.encode([query.text for query in labelled.queries])
    for query, vector in zip(labelled.queries, asked, strict=True):
        scores: npt.NDArray[np.float32] = rows[query.subject_id] @ vector
        unit = "session_id" if query.unit == "session" else "source_id"
        turns = haystacks[query.subject_id]
        order = [turns[number][unit] for number in np.argsort(-scores, kind="stable")[:DEPTH]]
        yield query, measured(distinct(order), query.needs)


def distinct(keys: Sequence[str | None]) -> list[str]:
    """Return the keys without repeats."""
    return [key for key in dict.fromkeys(keys) if key is not None]


def rows_of(name: str, found: Results) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the report: each method by haystack, and over all."""
    order = ("reverie", "recalled", "spoken", "bare vectors", "bm25", "fusion")
    for method in order:
        results = found[method]
        subjects = sorted({query.subject_id for query, _ in results})
        each = [mean([quality for query, quality in results if query.subject_id == subject]) for subject in subjects]
        all_ = mean([quality for _, quality in results])
        by_haystack = " ".join(f"{quality.recall_10:.2f}" for quality in each)
        yield (
            name, str(len(results)), method, f"{all_.recall_5:.3f}", f"{all_.recall_10:.3f}", f"{all_.ndcg_10:.3f}",
            by_haystack if len(each) > 1 else "",
        )  # fmt: skip


def reminders(store: Store, labelled: LabelledSet, policy: Policy, embedder: Embedder) -> Iterator[tuple[str, ...]]:
    """Yield, for each haystack of a set, how many short turns of other conversations get memories, and how many."""
    said: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in labelled.records:
        said[record["subject_id"]].append(record)
    for subject, turns in sorted(said.items()):
        own = {record["text"] for record in turns}
        texts = {one["text"] for other in said.values() for one in other if len(one["text"].split()) in SHORT} - own
        chosen = sorted(texts)[:: max(1, len(texts) // REMINDED)][:REMINDED]
        at = datetime.fromisoformat(max(record["said_at"] for record in turns)) + timedelta(seconds=1)
        session, lines = store.session(labelled.name), []
        for text in chosen:
            message = RecallQuery(text=text, subject_id=subject, as_of=at, is_spoken=True)
            lines.append(len(perform(recall(session, message, policy=policy, embedder=embedder)).hits))
        if lines:
            reminded = sum(count > 0 for count in lines)
            yield labelled.name, subject, str(len(lines)), str(reminded), f"{sum(lines) / len(lines):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--policy", default="reverie")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "reverie-bench-messages")
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.exit(1, f"The public data sets are not at {options.data}.\n")
    policy, embedder = load_policy(options.policy), load_embedder("minilm")
    rows: list[tuple[str, ...]] = []
    falsely: list[tuple[str, ...]] = []
    with scratch_database(options.work) as store:
        for name in options.sets:
            labelled = read_set(name, options.data)
            load_set(store, labelled, policy=policy, embedder=embedder)
            rows += rows_of(name, results_of(store, labelled, policy, embedder))
            falsely += reminders(store, labelled, policy, embedder)
    columns = ("set", "messages", "method", "R@5", "R@10", "NDCG@10", "R@10 by haystack")
    print_table("Messages: what they need among the first hits", columns, rows)
    of_turns = ("set", "haystack", "short turns of others", "get memories", "memories a turn")
    print_table("Messages: false reminders", of_turns, falsely)


if __name__ == "__main__":
    main()
