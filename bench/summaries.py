"""The agreement of session summaries with reference summaries: `python bench/summaries.py [--seeds N]`.

ROUGE-1 and ROUGE-2 F of our summaries of the LoCoMo dev sessions against their reference summaries, beside the first
three sentences (lead-3), the first sentences up to our length, and random sentences up to our length. All have the same
layout, with date and speakers, so that only the choice of sentences differs. The weights (`[compress.summary]`) were
fitted on the conversations in `FITTED` and are reported on the others. Reads `../shared/data`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

# one thread, so that CPU seconds do not include threads waiting for work
os.environ.setdefault("POLARS_MAX_THREADS", "1")

import snowballstemmer  # type: ignore[import-untyped]

from bench.report import print_table
from reverie.language.cues.summarise import SpokenTurn, summarise_all
from reverie.language.standalone import spoken_text
from reverie.language.text import sentences, written_day
from reverie.policy import load_policy

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
#: Conversations on which the weights were fitted.
FITTED = ("conv-26", "conv-41", "conv-43")

#: Conversation and session.
Key = tuple[str, str]
Session = Sequence[SpokenTurn]

_PORTER = snowballstemmer.stemmer("porter")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="random summaries a session")
    options = parser.parse_args()
    sessions = locomo()
    ours, seconds = summaries(sessions)
    told = references()
    for title, fitted in (
        ("the other conversations", False),
        ("the conversations that the weights were fitted on", True),
    ):
        keys = [key for key in sessions if (key[0] in FITTED) == fitted]
        print_table(
            f"ROUGE F on {title}: {len(keys)} sessions",
            ("summary", "words", "ROUGE-1", "ours is", "ROUGE-2", "ours is"),
            rows(keys, sessions, ours, told, options.seeds),
        )
    print(
        f"{1e3 * seconds / len(sessions):.1f} ms of CPU a session; "
        f"{sum(text is None for text in ours.values())} of {len(ours)} sessions get none."
    )


def locomo(name: str = "locomo") -> dict[Key, list[SpokenTurn]]:
    """Return the sessions of LoCoMo dev (or `realtalk`), with captions as in the retrieval bench."""
    sessions: dict[Key, list[SpokenTurn]] = {}
    for turn in _lines(f"retrieval/{name}.turns.jsonl.gz"):
        caption = f" [shares {turn['caption']}]" if turn.get("caption") else ""
        spoken = SpokenTurn(
            speaker=turn["speaker"], text=turn["text"] + caption, said_at=datetime.fromisoformat(turn["timestamp"])
        )
        sessions.setdefault((turn["conversation_id"], turn["session_id"]), []).append(spoken)
    return sessions


def references() -> dict[Key, str]:
    """Return the reference summary of each session."""
    return {
        (row["conversation_id"], row["session"].removesuffix("_summary")): row["summary"]
        for row in _lines("facts/locomo-summaries.dev.jsonl.gz")
    }


def _lines(path: str) -> Iterator[dict[str, Any]]:
    with gzip.open(DATA / path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def summaries(sessions: Mapping[Key, Session], policy: str = "reverie") -> tuple[dict[Key, str | None], float]:
    """Return our summaries by a policy's numbers, and the CPU seconds that they took."""
    numbers = load_policy(policy)
    summarised = partial(
        summarise_all,
        number=numbers.compress.summary_sentences,
        weights=numbers.compress.summary,
        salience=numbers.salience,
    )
    summarised(list(sessions.values())[:1])  # reads the word lists
    began = time.process_time()
    texts = summarised(list(sessions.values()))
    return dict(zip(sessions, texts, strict=True)), time.process_time() - began


def rows(
    keys: Sequence[Key],
    sessions: Mapping[Key, Session],
    ours: Mapping[Key, str | None],
    told: Mapping[Key, str],
    seeds: int,
) -> Iterator[tuple[object, ...]]:
    """Yield a row for each way to summarise: words, ROUGE-1 and -2, and how much better ours is."""
    length = {key: len((ours[key] or "").split()) for key in keys}
    spoken = {key: list(_spoken(sessions[key])) for key in keys}

    def until(key: Key, order: Sequence[int]) -> str:
        """Return as many of the sentences in this order as come nearest to our length."""
        text = ""
        for number in range(1, len(order) + 1):
            longer = _laid_out(sessions[key], spoken[key], order[:number])
            over, under = len(longer.split()) - length[key], length[key] - len(text.split())
            if over >= 0:
                return longer if over <= under else text
            text = longer
        return text

    def shuffled(key: Key, seed: int) -> list[int]:
        order = list(range(len(spoken[key])))
        Random(f"{key} {seed}").shuffle(order)
        return order

    ways: dict[str, Callable[[Key], list[str]]] = {
        "ours": lambda key: [ours[key] or ""],
        "lead-3": lambda key: [_laid_out(sessions[key], spoken[key], [0, 1, 2])],
        "lead, our length": lambda key: [until(key, range(len(spoken[key])))],
        f"random, our length, {seeds} seeds": lambda key: [until(key, shuffled(key, seed)) for seed in range(seeds)],
    }
    best: list[float] = []
    for name, way in ways.items():
        texts = [(text, told[key]) for key in keys for text in way(key)]
        figures = [statistics.fmean(rouge(text, reference, n) for text, reference in texts) for n in (1, 2)]
        best = best or figures
        words = statistics.fmean(len(text.split()) for text, _ in texts)
        lead = [f"{mine / other - 1:+.0%}" if name != "ours" else "" for mine, other in zip(best, figures, strict=True)]
        yield name, round(words), f"{figures[0]:.3f}", lead[0], f"{figures[1]:.3f}", lead[1]


def _spoken(turns: Session) -> Iterator[tuple[str, str]]:
    """Yield each sentence of a session with its speaker."""
    for turn in turns:
        for line in spoken_text(turn.text).splitlines():
            yield from ((turn.speaker, sentence) for sentence in sentences(line))


def _laid_out(turns: Session, spoken: Sequence[tuple[str, str]], places: Sequence[int]) -> str:
    at = turns[0].said_at
    parts, speaker = [f"{written_day(at)}."] if at else [], None
    for place in sorted(places)[: len(spoken)]:
        by, sentence = spoken[place]
        parts.append(sentence if by == speaker else f"{by}: {sentence}")
        speaker = by
    return " ".join(parts)


def rouge(text: str, reference: str, n: int) -> float:
    """Return ROUGE-N F: the harmonic mean of precision and recall of n-grams, with Porter stems.

    Source: Lin, "ROUGE: a package for automatic evaluation of summaries", 2004. Words are split and stemmed as in the
    package `rouge-score` (`use_stemmer=True`), so that both give the same figure.
    """
    ours, theirs = _grams(text, n), _grams(reference, n)
    shared = (ours & theirs).total()
    return 2 * shared / (ours.total() + theirs.total()) if shared else 0.0


def _grams(text: str, n: int) -> Counter[tuple[str, ...]]:
    words = [_stem(word) for word in re.findall("[a-z0-9]+", text.lower())]
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


@cache
def _stem(word: str) -> str:
    return str(_PORTER.stemWord(word)) if len(word) > 3 else word


if __name__ == "__main__":
    main()
