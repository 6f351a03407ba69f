"""Are the events of a conversation read as life events? Recall and precision on LoCoMo's own events.

    python -m bench.events [--similarity .5] [--show N] [--fit]

LoCoMo's conversations were written from lists of events, each with its session and its speaker. A mention of ours and
such an event match if the speaker makes it in that session and the vectors of both (MiniLM) have at least the cosine
`--similarity`. Recall is the share of LoCoMo's events that some mention matches, precision the share of mentions that
match one of them. A mention of something that did happen but is not in the list counts as wrong. The weights were
fitted on the conversations in `FITTED` (`--fit` repeats this) and are also reported on the others. `--show` prints
pairs to read. Messages are read as the stage reads them, with the statements of our reader. Reads `../shared/data`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bench.report import print_table
from reverie.inference import load_embedder
from reverie.language.cues import wording
from reverie.language.cues.attribution import veil
from reverie.language.life_events.mentions import EventMessage, Mention, find_mentions
from reverie.language.life_events.worth import life_signs
from reverie.language.text import sentences
from reverie.language.times import past_times
from reverie.policy import load_policy
from reverie.policy.life_events import LifeEventsPolicy

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
#: Conversations on which the weights were fitted.
FITTED = ("conv-26", "conv-41", "conv-43")
#: Thresholds of the table.
THRESHOLDS = (0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65)

#: Conversation, session and speaker.
Key = tuple[str, str, str]
Vectors = Mapping[str, npt.NDArray[np.float32]]


class Told(NamedTuple):
    """A sentence of a speaker, and its likelihood of being an event."""

    key: Key
    text: str
    worth: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--similarity", type=float, default=0.5, help="cosine from which two tell the same")
    parser.add_argument("--show", type=int, default=0, help="print so many mentions with the nearest event")
    parser.add_argument("--fit", action="store_true", help="fit the weights, and print them")
    options = parser.parse_args()
    numbers, events = load_policy("reverie").life_events, references()
    if options.fit:
        fit(events, options.similarity)
        return
    began = time.process_time()
    told = mentions(numbers)
    seconds = time.process_time() - began
    vectors = embedded([*(spoken(one) for one in told), *(text for texts in events.values() for text in texts)])
    rows = []
    for title, fitted in (("others", False), ("fitted on", True)):
        of_part = {key: texts for key, texts in events.items() if (key[0] in FITTED) == fitted}
        for threshold in THRESHOLDS:
            kept = [one for one in told if (one.key[0] in FITTED) == fitted and one.worth >= threshold]
            recall, precision = scores(kept, of_part, vectors, options.similarity)
            used = " (policy)" if threshold == numbers.told else ""
            rows.append((title, f"{threshold}{used}", len(kept), f"{recall:.3f}", f"{precision:.3f}"))
    print_table(
        f"life events of LoCoMo, the same from cosine {options.similarity}",
        ("conversations", "threshold", "mentions", "recall", "precision"),
        rows,
    )
    print(f"{1e6 * seconds / len(turns()):.0f} µs of CPU a message")
    for one in Random(0).sample(held := [x for x in told if x.key[0] not in FITTED and x.worth >= numbers.told],
                                min(options.show, len(held))):  # fmt: skip
        nearest = max(events.get(one.key, ()), key=lambda text: float(vectors[text] @ vectors[spoken(one)]), default="")
        cosine = float(vectors[nearest] @ vectors[spoken(one)]) if nearest else 0.0
        print(f"{cosine:.2f} {one.key[2]}: {one.text}\n     {nearest}")


def turns() -> list[dict[str, Any]]:
    """Return the turns of LoCoMo dev."""
    return list(_lines("retrieval/locomo.turns.jsonl.gz"))


def references() -> dict[Key, list[str]]:
    """Return the events from which LoCoMo's conversations were written."""
    found: dict[Key, list[str]] = defaultdict(list)
    for row in _lines("facts/locomo-events.dev.jsonl.gz"):
        found[row["conversation_id"], row["session"].removeprefix("events_"), row["speaker"]].append(row["event"])
    return found


def _lines(path: str) -> Iterator[dict[str, Any]]:
    with gzip.open(DATA / path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def _key(turn: Mapping[str, Any]) -> Key:
    return turn["conversation_id"], turn["session_id"], turn["speaker"]


def mentions(numbers: LifeEventsPolicy) -> list[Told]:
    """Return every mention of an event, at the lowest of the reported thresholds."""
    said = turns()
    messages = [EventMessage(text=turn["text"], said=datetime.fromisoformat(turn["timestamp"]).date()) for turn in said]
    found = find_mentions(messages, numbers.model_copy(update={"told": min(THRESHOLDS)}))
    return [
        Told(_key(turn), mention.title, _worth(mention, numbers))
        for turn, of_turn in zip(said, found, strict=True)
        for mention in of_turn
        if mention.kind in ("told", "planned")
    ]


def _worth(mention: Mention, numbers: LifeEventsPolicy) -> float:
    """Return the worth of a mention; a plan with its day always counts as an event."""
    return max(mention.worth, numbers.told) if mention.kind == "planned" else mention.worth


def spoken(one: Told) -> str:
    return f"{one.key[2]}: {one.text}"


def embedded(texts: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
    distinct = sorted(set(texts))
    return dict(zip(distinct, np.asarray(load_embedder("minilm", threads=1).encode(distinct)), strict=True))


def scores(
    told: Sequence[Told], events: Mapping[Key, Sequence[str]], vectors: Vectors, similarity: float
) -> tuple[float, float]:
    """Return recall and precision."""
    by_key: dict[Key, list[str]] = defaultdict(list)
    for one in told:
        by_key[one.key].append(spoken(one))

    def same(event: str, mention: str) -> bool:
        return float(vectors[event] @ vectors[mention]) >= similarity

    found = [any(same(text, one) for one in by_key[key]) for key, texts in events.items() for text in texts]
    right = [any(same(text, spoken(one)) for text in events.get(one.key, ())) for one in told]
    return sum(found) / max(len(found), 1), sum(right) / max(len(right), 1)


def fit(events: Mapping[Key, Sequence[str]], similarity: float) -> None:
    """Fit the weights of the signs by logistic regression on the conversations in `FITTED`."""
    from sklearn.linear_model import LogisticRegression

    rows = [
        (_key(turn), sentence, tuple(past_times(sentence, datetime.fromisoformat(turn["timestamp"]).date())))
        for turn in turns()
        if turn["conversation_id"] in FITTED
        for sentence in sentences(wording.plain(veil(turn["text"])))
        if not sentence.endswith("?") and len(sentence.split()) > 3
    ]
    told = [Told(key, sentence, 0) for key, sentence, _ in rows]
    vectors = embedded([*map(spoken, told), *(text for key, texts in events.items() for text in texts)])
    labels = [
        any(float(vectors[text] @ vectors[spoken(one)]) >= similarity for text in events.get(one.key, ()))
        for one in told
    ]
    signs = life_signs([(sentence, times) for _, sentence, times in rows])
    names = sorted(signs[0])
    model = LogisticRegression(C=0.1, max_iter=5000).fit([[sign[name] for name in names] for sign in signs], labels)
    print(f"# {len(rows)} sentences, {sum(labels)} tell an event")
    print(f"bias = {model.intercept_[0]:.2f}")
    for name, weight in zip(names, model.coef_[0], strict=True):
        print(f"{name} = {weight:.2f}")


if __name__ == "__main__":
    main()
