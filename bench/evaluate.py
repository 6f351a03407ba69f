"""The time of an evaluation, and the errors of context utilisation.

    python bench/evaluate.py [--data ../shared/data] [--work FOLDER]

Time: `evaluate` asks 1,000 labelled questions of LoCoMo and REALTALK. Error: a question's labelled answer serves as the
reply, its evidence turns as injected items that were used, and as many other turns of the recall for the same question
as items that were not. The only data that is kept is a database under --work.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.report import print_table
from reverie.evaluate.conduct.utilisation import used_by_vector, used_by_words
from reverie.evaluate.evaluation import EvaluationPlan, asked_memory, evaluate
from reverie.evaluate.ranking.examples import load_set
from reverie.evaluate.ranking.scratch import scratch_database
from reverie.evaluate.ranking.sets import read_set
from reverie.evaluate.retrieval.question_file import questions_of_file
from reverie.inference import Embedder, Vectors, load_embedder
from reverie.model import Scope
from reverie.policy import EvaluationPolicy, Policy, load_policy
from reverie.store.database import Store
from reverie.store.work import Work

SETS = ("locomo", "realtalk")
THRESHOLDS = (0.4, 0.5, 0.6, 0.7)


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def work_of(store: Store, tenant: str, policy: Policy, embedder: Embedder) -> Work:
    return Work(
        store=store, scope=Scope(tenant_id=tenant), policy=policy, as_of=datetime(2026, 1, 1, tzinfo=UTC),
        embedder=embedder,
    )  # fmt: skip


def speed(store: Store, data: Path, policy: Policy, embedder: Embedder) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name in SETS:
        for ablate in (False, True):
            began = time.perf_counter()
            plan = EvaluationPlan(file=data / f"retrieval/{name}.questions.jsonl.gz", ablate=ablate, limit=1000)
            done = evaluate(work_of(store, name, policy, embedder), plan)
            seconds = time.perf_counter() - began
            recall = done.measures()["recall_10"] or 0.0
            rows.append(
                (name, "with ablations" if ablate else "alone", f"{done.questions}", f"{seconds:.1f}",
                 f"{1000 * seconds / done.questions:.1f}", f"{recall:.3f}")
            )  # fmt: skip
    return rows


def judged(
    store: Store, name: str, data: Path, policy: Policy, embedder: Embedder
) -> list[tuple[bool, str, str, str, Vectors, Vectors]]:
    """Return injected turns: whether each was used, the item, message and reply, and the vectors of item and reply."""
    asked, _ = questions_of_file(store, name, data / f"retrieval/{name}.questions.jsonl.gz")
    answers = dict(enumerate(lines(data / f"retrieval/{name}.questions.jsonl.gz"), 1))
    given = asked_memory(work_of(store, name, policy, embedder), asked, embedder=embedder, policy=policy).answers()
    with store.transaction(name) as conn:
        texts = dict(conn.execute("select id, text from log.turns").fetchall())
    found = []
    for each in given:
        reply, needs = str(answers[int(each.question.id)]["answer"]), each.question.needs
        others = [line for line in each.text.splitlines() if line and not any(texts[id_] in line for id_ in needs)]
        items = [(True, texts[id_]) for id_ in needs] + [(False, text) for text in others[: len(needs)]]
        found += [(used, item, each.question.text, reply) for used, item in items]
    vectors = embedder.encode([text for one in found for text in (one[1], one[3])])
    return [
        (*one, vectors[2 * place : 2 * place + 1], vectors[2 * place + 1 : 2 * place + 2])
        for place, one in enumerate(found)
    ]


def errors(name: str, pairs: list[tuple[bool, str, str, str, Vectors, Vectors]]) -> Iterator[tuple[str, ...]]:
    for words in (1, 2, 3):
        for threshold in THRESHOLDS:
            numbers = EvaluationPolicy(used_words=words, used_similarity=threshold)
            told = [
                (used, used_by_words(item, message, reply, numbers) or used_by_vector(one, other, numbers))
                for used, item, message, reply, one, other in pairs
            ]
            positive, negative = ([said for used, said in told if used is which] for which in (True, False))
            yield (
                name, f"{words}", f"{threshold}", f"{len(positive)}", f"{1 - sum(positive) / len(positive):.3f}",
                f"{len(negative)}", f"{sum(negative) / len(negative):.3f}",
            )  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="bench evaluate", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--work", type=Path)
    given = parser.parse_args(arguments)
    policy, embedder = load_policy("reverie"), load_embedder("minilm")
    with scratch_database(given.work) as store:
        for name in SETS:
            load_set(store, read_set(name, given.data), policy=policy, embedder=embedder)
        print_table(
            "Time of an evaluation",
            ("set", "evaluation", "questions", "seconds", "ms a question", "R@10"),
            speed(store, given.data, policy, embedder),
        )
        print_table(
            "Context utilisation against labelled answers",
            ("set", "used_words", "used_similarity", "used", "missed", "unused", "counted"),
            [row for name in SETS for row in errors(name, judged(store, name, given.data, policy, embedder))],
        )


if __name__ == "__main__":
    main()
