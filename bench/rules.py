"""The quality of extraction by patterns and reader, and the speed of patterns: `python bench/rules.py [policy ...]`.

Quality, by turn: precision and recall of "states a personal fact" on LoCoMo (a turn is positive when an observation
cites it) and of "states a preference" on PrefEval and ConvAI2 against LoCoMo turns that no observation cites and
PrefEval questions. Speed: turns per CPU-second of both engines against the same rules searched naively with Python's
re, in the same run. Reads `../shared/data`.
"""

import gzip
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence, Set
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

# one thread, so that CPU seconds do not include threads waiting for work
os.environ.setdefault("POLARS_MAX_THREADS", "1")

import polars as pl

from reverie.consolidate.extract.decide import decide_turns, turns_frame
from reverie.consolidate.extract.reading import read_messages
from reverie.language.cues.compiled import Rules
from reverie.language.cues.frame import extract_frame
from reverie.language.cues.keeping import kept_frame, kept_one
from reverie.language.cues.single import extract_one
from reverie.model import Candidate
from reverie.policy import Policy, load_policy

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
POLICIES = ("brain", "agent", "logic", "contact", "chat", "reverie")
LIKES = re.compile(r"\['i', '(?:like_\w+|dislike|favorite\w*|has_hobby)'")


def rules_of(policy: str) -> Rules:
    """Return the compiled rules of a shipped policy, or of a file whose path ends in .toml."""
    return Rules(load_policy(policy).extract)


def lines(path: str) -> Iterator[str]:
    """Return the lines of a gzipped file in the data folder."""
    with gzip.open(DATA / path, "rt", encoding="utf-8") as file:
        yield from (line.rstrip("\n") for line in file)


def locomo() -> tuple[list[str], list[bool]]:
    """Return LoCoMo turns, and whether an observation cites each."""
    observations = map(json.loads, lines("facts/locomo-observations.dev.jsonl.gz"))
    cited = {(one["conversation_id"], turn) for one in observations for turn in one["turn_ids"]}
    turns = [json.loads(line) for line in lines("retrieval/locomo.turns.jsonl.gz")]
    return [t["text"] for t in turns], [(t["conversation_id"], t["turn_id"]) in cited for t in turns]


def convai(persona: bool) -> tuple[list[str], list[str]]:
    """Return ConvAI2 persona sentences or dialogue lines, once each, and their triples as written."""
    rows: dict[str, str] = {}
    for line in lines("facts/convai2-dnli.dev.txt.gz"):
        text, _, triples = line.partition("\t") if "persona:" in line else line.partition("\t")[2].partition("\t")
        if ("persona:" in text) == persona:
            rows.setdefault(text.split("persona: ")[-1], triples)
    return list(rows), list(rows.values())


@cache
def candidates_of_texts(policy: Policy, texts: tuple[str, ...]) -> list[list[Candidate]]:
    """Return the candidates that patterns and the reader find in each text as a separate turn of a user."""
    return candidates_of_messages(policy, [(text, None) for text in texts])


def candidates_of_messages(policy: Policy, messages: Sequence[tuple[str, str | None]]) -> list[list[Candidate]]:
    """Return the candidates of each message of a user, given what was said before it (None: nothing)."""
    at = datetime(2024, 5, 6, tzinfo=UTC)
    rows = [
        (f"{n:032x}", "user", f"s{n}", "user", None, at, text, None, before)
        for n, (text, before) in enumerate(messages)
    ]
    frame = turns_frame(rows)
    by_text: list[list[Candidate]] = [[] for _ in messages]
    for candidate in decide_turns(frame, "bench", policy, len, read=read_messages(frame, policy)).candidates:
        if candidate.turn_id is not None:
            by_text[candidate.turn_id.int].append(candidate)
    return by_text


def found(texts: Sequence[str], policy: Policy, kinds: Set[str]) -> list[bool]:
    """Return whether each text gives a memory of one of the kinds."""
    return [any(one.kind in kinds for one in some) for some in candidates_of_texts(policy, tuple(texts))]


def score(predicted: list[bool], truth: list[bool]) -> str:
    """Format precision, recall and F1."""
    both = sum(p and t for p, t in zip(predicted, truth, strict=True))
    precision, recall = both / max(sum(predicted), 1), both / max(sum(truth), 1)
    return f"{precision:5.2f} {recall:5.2f} {2 * both / max(sum(predicted) + sum(truth), 1):5.2f}"


def cpu(work: Callable[..., object], *arguments: object) -> float:
    """Measure the CPU seconds of a function."""
    start = time.process_time()
    work(*arguments)
    return time.process_time() - start


def quality(policies: list[str]) -> None:
    """Print a line per policy with precision, recall and F1 per data set."""
    turns, cited = locomo()
    persona, relations = convai(persona=True)
    spoken, triples = convai(persona=False)
    prefeval = [json.loads(line) for line in lines("preferences/prefeval-explicit.dev.jsonl.gz")]
    stated, asked = [p["preference"] for p in prefeval], [p["question"] for p in prefeval]
    quiet = [text for text, positive in zip(turns, cited, strict=True) if not positive]
    likes = [text for text, relation in zip(persona, relations, strict=True) if LIKES.search(relation)]
    all_kinds = {"fact", "preference", "instruction"}
    wants = {"preference", "instruction"}
    print("precision, recall, F1; recall alone for persona sentences (all state a fact)")
    heads = ("LoCoMo facts", "with episodes", "ConvAI2 spoken", "with episodes")
    print(f"{'policy':9}", *(f"{head:18}" for head in heads), "persona  PrefEval  +ConvAI2")
    for policy in policies:
        policy_ = load_policy(policy)
        judged = [
            score(found(turns, policy_, all_kinds), cited),
            score(found(turns, policy_, all_kinds | {"episode"}), cited),
            score(found(spoken, policy_, all_kinds), [bool(t) for t in triples]),
            score(found(spoken, policy_, all_kinds | {"episode"}), [bool(t) for t in triples]),
            f"{sum(found(persona, policy_, all_kinds)) / len(persona):7.2f}",
            score(
                found(stated + asked + quiet, policy_, wants),
                [i < len(stated) for i in range(len(stated + asked + quiet))],
            ),
            score(
                found(stated + likes + asked + quiet, policy_, wants),
                [True] * len(stated + likes) + [False] * len(asked + quiet),
            ),
        ]
        print(f"{policy:9}", "  ".join(judged))


def speed(policies: list[str], rows: int = 200_000) -> None:
    """Print a line per policy: batches, naive Python, and one turn at a time."""
    turns, _ = locomo()
    batch = pl.DataFrame({"text": (turns * (rows // len(turns) + 1))[:rows]})
    print("policy    frame turns/cpu-s   naive re turns/cpu-s   ratio   one turn p50 / p95 ms, best of 3")
    for policy in policies:
        rules = rules_of(policy)
        extract_frame(batch.head(1000), rules)
        in_frame = rows / min(cpu(in_batch, batch, rules) for _ in range(3))
        naive = len(turns) / cpu(search_naively, turns, [one.pattern for one in rules.compiled])
        each = sorted(min(wall(text, rules) for _ in range(3)) for text in turns)
        p50, p95 = (1e3 * each[len(each) * share // 100] for share in (50, 95))
        print(f"{policy:9} {in_frame:17,.0f} {naive:22,.0f} {in_frame / naive:7.1f} {p50:12.3f} / {p95:.3f}")


def search_naively(texts: list[str], patterns: list[re.Pattern[str]]) -> None:
    """Match each pattern against each text."""
    for text in texts:
        for pattern in patterns:
            pattern.search(text)


def in_batch(batch: pl.DataFrame, rules: Rules) -> None:
    """Extract a batch by the rules, and the sentences of it that are kept verbatim."""
    extract_frame(batch, rules)
    kept_frame(batch["text"], {}, rules)


def wall(text: str, rules: Rules) -> float:
    """Return the seconds for one turn: extraction by the rules, and the sentences kept verbatim."""
    start = time.perf_counter()
    extract_one(text, rules)
    kept_one(text, (), rules)
    return time.perf_counter() - start


if __name__ == "__main__":
    if not DATA.is_dir():
        sys.exit("bench/rules.py needs ../shared/data, which is not here")
    chosen = sys.argv[1:] or list(POLICIES)
    quality(chosen)
    speed(chosen)
