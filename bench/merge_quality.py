"""Precision and recall of merging, with and without its guards.

    python bench/merge_quality.py [--sts ../shared/data/duplicates] [--model minilm]

Judged on the pairs in tests/language/merge_pairs.jsonl (chosen to be hard: near in wording, often the opposite) and, if
present, on STS-B, whose pairs rated 4.5 of 5 or more count as duplicates. The guards were tuned on both sets of hard
pairs, so precision there is in-sample; on the second set it was 0.955 (21 of 22) before. STS-B contributed only a few
synonyms (`train`); it counts news with other details as the same, which memory must not.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from rich.console import Console
from rich.table import Table

from reverie.consolidate.merge.same import why_not_same
from reverie.inference import Embedder, load_embedder
from reverie.language.contradiction import contradiction
from reverie.policy import load_policy

if TYPE_CHECKING:
    from reverie.consolidate.merge.same import Stating

HARD = Path(__file__).parents[1] / "tests" / "language" / "merge_pairs.jsonl"
DUPLICATE_FROM = 4.5

#: Two texts, and whether they are the same memory.
Pair = tuple[str, str, bool]


def main() -> None:
    """Print one row for each set and threshold, with and without the guards."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sts", type=Path, default=Path("../shared/data/duplicates"))
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--pairs", type=Path, help="judge the policy's whole pair decision on this file of pairs alone")
    arguments = parser.parse_args()
    if arguments.pairs:
        _judge_policy(arguments.pairs, load_embedder(arguments.model))
        return
    embedder = load_embedder(arguments.model)
    table = Table(title=f"merge, {embedder.model}")
    for name in ("set", "pairs", "same", "cosine >", "guards", "merged", "precision", "recall"):
        table.add_column(name, justify="left" if name in ("set", "guards") else "right")
    for name, pairs in _sets(arguments.sts):
        for row in _judge(embedder, pairs):
            table.add_row(name, str(len(pairs)), str(sum(same for _, _, same in pairs)), *row)
    Console(width=120).print(table)


def _judge_policy(path: Path, embedder: Embedder) -> None:
    """Print precision and recall of merging as the policy `reverie` does it; a pair has `a`, `b`, `merge`.

    `a_stated` and `b_stated` may have who, relation, topic, object, phase and polarity.
    """
    policy = load_policy("reverie")
    one_valued = frozenset(name for name, relation in policy.extract.relations.items() if relation.values == "one")
    merged = right = same = 0
    blank = dict.fromkeys(("who", "relation", "topic", "object", "phase")) | {"polarity": 0}
    for line in path.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        one, other = (
            cast("Stating", SimpleNamespace(content=pair[side], **blank | pair.get(f"{side}_stated", {})))
            for side in "ab"
        )
        first, second = embedder.encode([one.content, other.content])
        cosine, least = float(first @ second), policy.merge.near or policy.merge.threshold
        is_merged = cosine > least and not why_not_same(one, other, cosine, policy.merge.probability, one_valued)
        merged, right, same = merged + is_merged, right + (is_merged and pair["merge"]), same + pair["merge"]
    print(
        f"precision {right / max(merged, 1):.3f} ({right}/{merged}), recall {right / max(same, 1):.3f} ({right}/{same})"
    )


def _sets(sts: Path) -> Iterator[tuple[str, list[Pair]]]:
    hard = [json.loads(line) for line in HARD.read_text(encoding="utf-8").splitlines()]
    yield "hard pairs", [(pair["a"], pair["b"], pair["merge"]) for pair in hard]
    yield "hard pairs, second set", [(pair["a"], pair["b"], pair["merge"]) for pair in hard if pair["blind"]]
    for split in ("train", "dev"):
        path = sts / f"stsb-en.{split}.csv.gz"
        if path.is_file():
            with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
                rows = list(csv.reader(file))
            yield f"STS-B {split}", [(one, other, float(score) >= DUPLICATE_FROM) for one, other, score in rows]


def _judge(embedder: Embedder, pairs: list[Pair]) -> Iterator[tuple[str, ...]]:
    texts = sorted({text for one, other, _ in pairs for text in (one, other)})
    vectors = dict(zip(texts, embedder.encode(texts), strict=True))
    cosines = [float(vectors[one] @ vectors[other]) for one, other, _ in pairs]
    apart = [contradiction(one, other) is not None for one, other, _ in pairs]
    for threshold in (0.90, 0.92):
        for guards in (False, True):
            merged = [
                same
                for (_, _, same), cosine, guarded in zip(pairs, cosines, apart, strict=True)
                if cosine > threshold and not (guards and guarded)
            ]
            precision, recall = sum(merged) / max(len(merged), 1), sum(merged) / sum(same for _, _, same in pairs)
            yield f"{threshold:.2f}", "on" if guards else "off", str(len(merged)), f"{precision:.3f}", f"{recall:.3f}"


if __name__ == "__main__":
    main()
