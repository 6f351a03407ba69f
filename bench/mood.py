"""The quality of recognising moods and crises: `python bench/mood.py [--cache FOLDER]`.

Moods: the messages of GoEmotions' development part that have exactly one mood, by the classifier and by the seed's
keywords. It has eight of the ten moods; 40 held-out messages of our own cover bored and flirty. Crises: our cases, of
which sets 3 and 5 were not used for development, and alarms per thousand messages of GoEmotions and per thousand short
messages of the reader's voices.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support

from bench.mood_data import Messages, embedded, go_emotions, own
from bench.report import print_table
from bench.train_crisis import TRAINED, cases, messages, short_talk
from reverie.inference import Embedder, Vectors, load_embedder
from reverie.language.cues.crisis import find_crisis, signs_of
from reverie.language.cues.mood import MOODS, by_keywords, by_vector, read_mood
from reverie.policy import load_policy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, help="folder that keeps the vectors for the next run")
    options = parser.parse_args()
    embedder = load_embedder("minilm")
    dev = go_emotions("dev")
    vectors = embedded(dev.texts, embedder, options.cache)
    moods(dev, vectors, embedder)
    confidence(dev, vectors, embedder)
    crises(embedder, options.cache)
    speed(dev.texts, vectors, embedder)


def by_words(text: str) -> str:
    """Return the mood by keywords, or the default."""
    told = by_keywords(text)
    return told.mood if told else "neutral"


def moods(dev: Messages, vectors: Vectors, embedder: Embedder) -> None:
    """Print the macro-F1 and each mood's precision, recall and F1."""
    extra = own("test")
    told = [by_vector(vector, embedder.model) for vector in vectors]
    classified = [mood for mood, _ in filter(None, told)]
    worded = [by_words(text) for text in dev.texts]
    held = sorted(set(dev.moods), key=MOODS.index)
    rows = []
    for name, found in (("classifier", classified), ("keywords", worded)):
        macro = f1_score(dev.moods, found, labels=held, average="macro", zero_division=0)
        of_ten = f1_score(dev.moods, found, labels=MOODS, average="macro", zero_division=0)
        seeds = [mood for mood in held if mood not in ("excited", "angry", "grateful")]
        of_five = f1_score(dev.moods, found, labels=seeds, average="macro", zero_division=0)
        right = accuracy_score(dev.moods, found)
        rows.append((name, *(f"{x:.3f}" for x in (macro, of_five, of_ten, right))))
    title = f"Moods, {len(dev.texts):,} messages ({dev.left_out} more have no mood or several)"
    columns = (
        "",
        f"macro-F1 of the {len(held)} there are",
        "of the 5 in the keywords",
        "of ten, 2 at zero",
        "right",
    )
    print_table(title, columns, rows)
    ours, words = (
        precision_recall_fscore_support(dev.moods, found, labels=held, zero_division=0)
        for found in (classified, worded)
    )
    print_table(
        "By mood: precision, recall, F1",
        ("mood", "messages", "classifier", "keywords"),
        [
            (mood, ours[3][n], *(" / ".join(f"{part[n]:.2f}" for part in method[:3]) for method in (ours, words)))
            for n, mood in enumerate(held)
        ],
    )
    guesses = [by_vector(vector, embedder.model) for vector in embedder.encode(extra.texts)]
    ours_found = [
        (
            mood,
            extra.moods.count(mood),
            sum(
                guess is not None and guess[0] == mood == right
                for guess, right in zip(guesses, extra.moods, strict=True)
            ),
            sum(by_words(text) == mood == right for text, right in zip(extra.texts, extra.moods, strict=True)),
            classified.count(mood),
        )
        for mood in MOODS
        if mood in ("bored", "flirty")
    ]
    columns = ("mood", "our messages", "classifier finds", "keywords find", "classifier says it in GoEmotions")
    print_table("What GoEmotions lacks, on our own held-out messages", columns, ours_found)


def confidence(dev: Messages, vectors: Vectors, embedder: Embedder) -> None:
    """Print the classifier's accuracy by confidence, and that of the whole chain without a previous mood."""
    told = [by_vector(vector, embedder.model) or ("neutral", 0.0) for vector in vectors]
    sure = np.array([odds for _, odds in told])
    right = np.array([mood for mood, _ in told]) == np.array(dev.moods)
    edges = [0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.01]
    rows = [
        (f"{low:.1f} to {min(high, 1):.1f}", int(band.sum()), f"{sure[band].mean():.2f}", f"{right[band].mean():.2f}")
        for low, high in pairwise(edges)
        for band in [(sure >= low) & (sure < high)]
    ]
    print_table("Is it as often right as it is sure?", ("confidence", "messages", "mean confidence", "right"), rows)
    policy = load_policy("reverie").mood
    read = [
        read_mood(text, mood=policy, vector=vector, embedding_model=embedder.model)
        for text, vector in zip(dev.texts, vectors, strict=True)
    ]
    below = sure < policy.classifier_confidence
    spoken = np.array([by_words(text) for text in dev.texts])
    hits = below & (spoken != "neutral")
    macro = f1_score(dev.moods, [one.mood for one in read], labels=sorted(set(dev.moods)), average="macro")
    print(
        f"At {policy.classifier_confidence} it passes on {below.mean():.1%} of messages, where its guess would be "
        f"right for {right[below].mean():.0%}. Keywords name a mood for {hits.sum()} of those and are right for "
        f"{(spoken == np.array(dev.moods))[hits].mean():.0%}. The chain without a previous mood: macro-F1 {macro:.3f}."
    )


def crises(embedder: Embedder, cache: Path | None) -> None:
    """Print recall and false alarms on our cases, and alarms on ordinary conversation."""
    numbers = load_policy("reverie").crisis
    rows: list[Sequence[object]] = []
    for number in (1, 2, 3, 4, 5):
        some = cases(number)
        vectors = embedder.encode(some.texts)
        by_words = np.array([bool(signs_of(text)) for text in some.texts])
        both = np.array(
            [
                find_crisis(text, crisis=numbers, vector=vector, embedding_model=embedder.model) is not None
                for text, vector in zip(some.texts, vectors, strict=True)
            ]
        )
        if number == 3:
            kinds = np.array(some.kinds)
            by_kind = [
                (kind, int(mask.sum()), int(by_words[mask].sum()), int(both[mask].sum()))
                for kind in dict.fromkeys(some.kinds)
                for mask in [kinds == kind]
            ]
        yes, no = some.crisis, ~some.crisis
        rows.append(
            (
                f"set {number}" + ("" if number in TRAINED else " (held out)"),
                int(yes.sum()),
                *(f"{found[yes].mean():.2f}" for found in (by_words, both)),
                int(no.sum()),
                *(int(found[no].sum()) for found in (by_words, both)),
            )
        )
    columns = ("", "crises", "recall, patterns", "and vector", "others", "false alarms, patterns", "and vector")
    print_table("Crises, our own cases", columns, rows)
    print_table("Set 3 by kind: flagged", ("kind", "messages", "patterns", "and vector"), by_kind)
    trade(embedder, cache)
    alarms = []
    talk = {"GoEmotions, train": messages("train"), "GoEmotions, dev": messages("dev")}
    talk |= {"short, train": short_talk("train"), "short, held-out voices": short_talk("dev", "test")}
    for part, texts in talk.items():
        found = [
            (
                bool(signs_of(text)),
                find_crisis(text, crisis=numbers, vector=vector, embedding_model=embedder.model) is not None,
            )
            for text, vector in zip(texts, embedded(texts, embedder, cache), strict=True)
        ]
        words, either = (1000 * sum(column) / len(texts) for column in zip(*found, strict=True))
        alarms.append((part, f"{len(texts):,}", f"{words:.2f}", f"{either:.2f}"))
    print_table(
        "Flagged of a thousand ordinary messages",
        ("part", "messages", "patterns", "and vector"),
        alarms,
    )


def trade(embedder: Embedder, cache: Path | None) -> None:
    """Print recall and false alarms at other thresholds of the classifier."""
    some = cases(3)
    vectors = embedder.encode(some.texts)
    texts = messages("dev")
    talk = embedded(texts, embedder, cache)
    rows = []
    for least in (1.0, 0.7, load_policy("reverie").crisis.vector_probability, 0.3, 0.2, 0.1):
        numbers = load_policy("reverie").crisis.model_copy(update={"vector_probability": least})
        ours, ordinary = (
            np.array(
                [
                    find_crisis(text, crisis=numbers, vector=vector, embedding_model=embedder.model) is not None
                    for text, vector in zip(said, read, strict=True)
                ]
            )
            for said, read in ((some.texts, vectors), (texts, talk))
        )
        found, alarms = ours[some.crisis].mean(), int(ours[~some.crisis].sum())
        rows.append((least, f"{found:.2f}", f"{alarms} of {(~some.crisis).sum()}", f"{1000 * ordinary.mean():.1f}"))
    columns = ("vector_probability", "recall on set 3", "false alarms there", "of a thousand GoEmotions dev messages")
    print_table("What the classifier's threshold trades", columns, rows)


def speed(texts: Sequence[str], vectors: Vectors, embedder: Embedder) -> None:
    """Measure milliseconds per message, each timed separately."""
    policy = load_policy("reverie")
    steps: dict[str, Callable[[str, npt.NDArray[np.float32]], object]] = {
        "mood by keywords": lambda text, vector: by_keywords(text),
        "mood by the chain": lambda text, vector: read_mood(
            text, mood=policy.mood, vector=vector, embedding_model=embedder.model
        ),
        "crisis": lambda text, vector: find_crisis(
            text, crisis=policy.crisis, vector=vector, embedding_model=embedder.model
        ),
    }
    rows = []
    for name, step in steps.items():
        step(texts[0], vectors[0])
        taken = []
        for text, vector in zip(texts, vectors, strict=True):
            begun = time.perf_counter()
            step(text, vector)
            taken.append((time.perf_counter() - begun) * 1000)
        taken.sort()
        rows.append((name, f"{statistics.median(taken):.3f}", f"{taken[int(len(taken) * 0.95)]:.3f}"))
    print_table("Milliseconds a message, vector given", ("step", "p50", "p95"), rows)


if __name__ == "__main__":
    main()
