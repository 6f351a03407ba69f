"""The rate of the bare embedder, with which that of an import is compared.

    python bench/embed.py [--texts 1200] [--threads 2] [--model minilm]

Prints one JSON object: texts and tokens per second (wall and CPU), the latency of one query, and whether a text
embedded alone has bit for bit the vector that it has in a batch. The texts are ours and always the same.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import time

import numpy as np

from reverie.inference.embedder import Embedder
from reverie.inference.loading import load_embedder

SPEAKERS = ("Asha", "Mr. Okafor", "the new accountant", "our neighbour Lena", "Tomás", "my brother-in-law")
DEEDS = (
    "called",
    "moved the weekly review to Thursday at 4 pm",
    "says that the oven runs twenty degrees too hot",
    "would rather have the report as a table, with no more than five rows and the totals first",
    "ordered 120 jars of mango pickle, paid half of them in advance and wants the rest before the rains begin",
    "asked whether the dog could come along",
    "cannot stand long meetings, though everybody else seems to like them",
)
ENDINGS = (
    "again",
    "because the train from Pune was late",
    "and that was the third time this month, which is why I am writing it down",
    "but we agreed to look at it once more in spring",
    "as she always did when it rained",
)


def fixed_texts(count: int) -> list[str]:
    """Return different texts of 7 to 49 tokens (mean 27)."""
    product = itertools.product(range(1, 1 + count), SPEAKERS, DEEDS, ENDINGS)
    return [f"{who} {deed} {ending}, note {day}." for day, who, deed, ending in itertools.islice(product, count)]


def measure(embedder: Embedder, texts: list[str]) -> dict[str, float | bool | str]:
    """Encode all texts in one batch, then some one by one."""
    embedder.encode(texts[:32])  # the first run sets up memory
    wall, cpu = time.perf_counter(), time.process_time()
    vectors = embedder.encode(texts)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    latencies, same = [], True
    for index in range(0, len(texts), max(1, len(texts) // 50)):
        started = time.perf_counter()
        alone = embedder.encode([texts[index]])
        latencies.append(time.perf_counter() - started)
        same = same and np.array_equal(alone[0].view(np.int32), vectors[index].view(np.int32))
    tokens = sum(map(embedder.count_tokens, texts))
    return {
        "model": embedder.model,
        "texts": len(texts),
        "tokens_mean": round(tokens / len(texts), 1),
        "texts_per_s": round(len(texts) / wall, 1),
        "texts_per_cpu_s": round(len(texts) / cpu, 1),
        "tokens_per_s": round(tokens / wall),
        "query_p50_ms": round(1000 * statistics.median(latencies), 2),
        "alone_equals_batched": same,
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=1200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--model", default="minilm")
    arguments = parser.parse_args()
    embedder = load_embedder(arguments.model, threads=arguments.threads)
    print(json.dumps(measure(embedder, fixed_texts(arguments.texts)), indent=2))


if __name__ == "__main__":
    main()
