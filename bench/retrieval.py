"""Turn-level retrieval through the whole pipeline: import, every stage, recall; beside BM25, dense and RRF in one run.

    python bench/retrieval.py --data ../shared/data/retrieval [--sets locomo realtalk lme_s] [--sample 48]

R@k is the share of a question's evidence turns among the first k; NDCG@k has binary gains; both are means over
questions. By text, an evidence turn counts only if one of its hits has all words of the answer that the turn has.
"reverie" is the answer of recall with ten places, "reverie, ranking" the order of its candidates. The database is kept
under --work, so that a second run finds every vector in the cache.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from bench.report import print_table
from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.inference import Embedder, load_embedder
from reverie.language.objects import read_object
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.recall.query import RecallQuery
from reverie.recall.question import read_question
from reverie.recall.recall import recall
from reverie.recall.result import Hit
from reverie.recall.search import Search, search
from reverie.store.database import Store
from reverie.store.migrate import migrate
from reverie.store.server.embedded import EmbeddedPostgres
from reverie.store.session import perform
from reverie.store.work import Work

DEPTH = 60


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def questions_of(data: Path, name: str, sample: int | None) -> list[dict[str, Any]]:
    usable = [one for one in lines(data / f"{name}.questions.jsonl.gz") if one["retrieval_ok"]]
    return usable[:: max(1, len(usable) // sample)][:sample] if sample and name == "lme_s" else usable


def records_of(data: Path, name: str, asked: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    if name != "lme_s":
        for turn in lines(data / f"{name}.turns.jsonl.gz"):
            yield record(turn, turn["conversation_id"], turn["session_id"], turn["turn_id"], turn["timestamp"])
        return
    sessions = {one["session_id"]: one["turns"] for one in lines(data / "lme_s.sessions.jsonl.gz")}
    for question in asked:
        for session_id, time in question["haystack"]:
            for number, turn in enumerate(sessions[session_id]):
                yield record(turn, question["conversation_id"], session_id, f"{session_id}#{number}", time, number)


def record(
    turn: dict[str, Any], subject: str, session: str, source: str, time: str, index: int | None = None
) -> dict[str, Any]:
    caption = f" [shares {turn['caption']}]" if turn.get("caption") else ""
    number = turn["turn_index"] if index is None else index
    return {
        "subject_id": subject,
        "session_id": session,
        "source_id": source,
        "turn_index": number,
        "role": "assistant" if turn["role"] == "assistant" else "user",
        "speaker": turn.get("speaker") if turn.get("speaker") not in (None, "user", "assistant") else None,
        "said_at": time + "+00:00",
        "text": turn["text"] + caption,
    }


def load(store: Store, data: Path, name: str, asked: list[dict[str, Any]], policy: Policy, embedder: Embedder) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for one in records_of(data, name, asked):
                file.write(json.dumps(one) + "\n")
        summary = import_file(store, path, tenant_id=name)
    until = (summary.last or datetime(2024, 1, 1, tzinfo=UTC)) + timedelta(days=1)
    scope = Scope(tenant_id=name)
    for report in ingest(Work(store=store, scope=scope, policy=policy, as_of=until, embedder=embedder)):
        print(f"  {name} {report.stage}: {report.counts} in {report.seconds:.1f} s", flush=True)
    stages = sum(
        report.seconds
        for report in catch_up(Work(store=store, scope=scope, policy=policy, as_of=until, embedder=embedder))
    )
    print(f"  {name} cycles: {stages:.1f} s", flush=True)


def ranking(found: list[Any], source: dict[UUID, str]) -> list[str]:
    """Return the source ids of the turns behind the hits, each at its best rank."""
    return list(dict.fromkeys(source[hit.turn_id] for hit, reason in found if reason is None and hit.turn_id in source))


def fused(*rankings: list[str], k: int = 60) -> list[str]:
    scores: dict[str, float] = defaultdict(float)
    for one in rankings:
        for place, item in enumerate(one, 1):
            scores[item] += 1 / (k + place)
    return sorted(scores, key=lambda item: -scores[item])


def measured(order: list[str], evidence: set[str]) -> tuple[float, float, float]:
    def recall(k: int) -> float:
        return len(evidence & set(order[:k])) / len(evidence)

    gains = sum(1 / math.log2(place + 2) for place, item in enumerate(order[:10]) if item in evidence)
    return recall(5), recall(10), gains / sum(1 / math.log2(place + 2) for place in range(min(10, len(evidence))))


def words_of(text: str) -> frozenset[str]:
    return frozenset(read_object(text).words)


def by_text(hits: Sequence[Hit], evidence: dict[UUID, str], answer: str) -> float:
    """Return the share of the evidence turns with a hit that has all words of the answer that the turn has."""
    wanted, carried = words_of(answer), set()
    for hit in hits:
        turn = hit.turn_id or hit.id
        if turn in evidence and wanted & words_of(evidence[turn]) <= words_of(hit.told):
            carried.add(turn)
    return len(carried) / len(evidence)


def variants(policy: Policy) -> dict[str, Policy]:
    def only(signal: str) -> Policy:
        turns = policy.recall.model_copy(update={"weights": {signal: 1.0}, "items": ("turn",)})
        return policy.model_copy(update={"recall": turns})

    turns = policy.model_copy(update={"recall": policy.recall.model_copy(update={"items": ("turn",)})})
    return {
        "reverie, ranking": policy,
        "reverie, raw turns only": turns,
        "bm25": only("lexical"),
        "dense": only("similarity"),
    }


def ask(
    store: Store, name: str, asked: list[dict[str, Any]], policy: Policy, embedder: Embedder
) -> dict[str, tuple[float, ...]]:
    sums: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    with store.transaction(name) as conn:
        turns = conn.execute("select id, subject_id, source_id, text from log.turns").fetchall()
        source = {turn: source_id for turn, _, source_id, _ in turns}
        said = {(subject, source_id): (turn, text) for turn, subject, source_id, text in turns}
        speakers = dict(conn.execute("select subject_id, speakers from memory.subjects").fetchall())
        last = dict(conn.execute("select subject_id, max(said_at) from log.turns group by 1").fetchall())
        for question in asked:
            subject = question["conversation_id"]
            evidence = set(question["evidence_turn_ids"])
            date = question["question_date"]
            asked_at = datetime.fromisoformat(date + "+00:00") if date else last[subject] + timedelta(seconds=1)
            asked_at = max(asked_at, last[subject] + timedelta(seconds=1))
            orders = {}
            for label, variant in variants(policy).items():
                plain = label in ("bm25", "dense")
                names = () if plain else speakers[subject]
                read = read_question(question["question"], policy=variant.recall, speakers=names, asked_at=asked_at)
                vector = embedder.encode([read.spoken])[0]
                wanted = Search(
                    tenant_id=name, subject_id=subject, question=read, vector=vector, model=embedder.model,
                    as_of=asked_at, ranked=DEPTH,
                )  # fmt: skip
                found = search(conn, wanted, variant)
                orders[label] = ranking(found, source)
            orders["rrf of bm25 and dense"] = fused(orders["bm25"], orders["dense"])
            for label, order in orders.items():
                sums[label].append((*measured(order, evidence), math.nan))
            query = RecallQuery(
                text=question["question"], subject_id=subject, as_of=asked_at, top_k=10, token_budget=100_000
            )
            answer = perform(recall(store.session(name), query, policy=policy, embedder=embedder))
            order = list(dict.fromkeys(source[hit.turn_id] for hit in answer.hits if hit.turn_id in source))
            texts = dict(said[subject, one] for one in evidence)
            by_words = by_text(answer.hits, texts, str(question["answer"]))
            sums["reverie"].append((*measured(order, evidence), by_words))
    return {label: tuple(sum(values) / len(rows) for values in zip(*rows, strict=True)) for label, rows in sums.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/retrieval"))
    parser.add_argument("--sets", nargs="+", default=["locomo", "realtalk", "lme_s"])
    parser.add_argument("--sample", type=int, default=48)
    parser.add_argument("--policy", default="reverie")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "reverie-bench")
    parser.add_argument("--keep", action="store_true", help="ask again without loading")
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.exit(1, f"The public data sets are not at {options.data}.\n")
    policy, embedder = load_policy(options.policy), load_embedder("minilm")
    server = EmbeddedPostgres(options.work, durable=False)
    server.start()
    url = server.url("reverie")
    migrate(url)
    rows = []
    with Store.open(url) as store:
        for name in options.sets:
            asked = questions_of(options.data, name, options.sample)
            if not options.keep:
                load(store, options.data, name, asked, policy, embedder)
            for label, figures in ask(store, name, asked, policy, embedder).items():
                told = ("" if math.isnan(one) else f"{one:.3f}" for one in figures)
                rows.append((name, len(asked), label, *told))
    server.stop()
    print_table("Turn-level retrieval", ("set", "questions", "method", "R@5", "R@10", "NDCG@10", "R@10 by text"), rows)


if __name__ == "__main__":
    main()
