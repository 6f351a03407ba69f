"""Messages with one of the ten moods: those of GoEmotions, mapped, and our own for the moods that it lacks."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from reverie.inference import Embedder, Vectors
from reverie.policy.live import MoodName

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data" / "mood"
OWN = Path(__file__).with_name("mood_examples.tsv")

#: The mood for each of GoEmotions' 28 emotions; `docs/mood.md` gives the reasons. None: the emotion says too little
#: about the author's mood (surprise is good or bad), so it does not affect the mood of a message.
MOOD_OF: dict[str, MoodName | None] = {
    "admiration": "happy",
    "amusement": "happy",
    "joy": "happy",
    "love": "happy",
    "optimism": "happy",
    "pride": "happy",
    "relief": "happy",
    "excitement": "excited",
    "gratitude": "grateful",
    "anger": "angry",
    "disgust": "angry",
    "annoyance": "frustrated",
    "sadness": "sad",
    "grief": "sad",
    "disappointment": "sad",
    "remorse": "sad",
    "fear": "anxious",
    "nervousness": "anxious",
    "neutral": "neutral",
    "approval": "neutral",
    "disapproval": "neutral",
    "realization": "neutral",
    "curiosity": "neutral",
    "confusion": "neutral",
    "caring": None,
    "desire": None,
    "embarrassment": None,
    "surprise": None,
}


class Messages(NamedTuple):
    """Texts, each with its mood."""

    texts: list[str]
    moods: list[MoodName]
    #: number of texts left out because they have no mood or several
    left_out: int


def go_emotions(part: Literal["train", "dev"], folder: Path = DATA) -> Messages:
    """Return the messages of a part whose emotions map to exactly one mood; beside another, neutral does not count."""
    names = (folder / "goemotions.labels.txt").read_text("utf-8").split()
    texts: list[str] = []
    moods: list[MoodName] = []
    lines = 0
    with gzip.open(folder / f"goemotions.{part}.tsv.gz", "rt", encoding="utf-8") as file:
        for line in file:
            lines += 1
            text, emotions, _ = line.rstrip("\n").split("\t")
            felt = {mood for one in emotions.split(",") if (mood := MOOD_OF[names[int(one)]])}
            if len(felt) > 1:
                felt.discard("neutral")
            if len(felt) == 1:
                texts.append(text)
                moods.append(felt.pop())
    return Messages(texts, moods, lines - len(texts))


def own(part: Literal["train", "test"]) -> Messages:
    """Return bored and flirty messages, written for this benchmark."""
    rows = [line.split("\t") for line in OWN.read_text("utf-8").splitlines()]
    chosen = [(text, mood) for mood, of, text in rows if of == part]
    return Messages([text for text, _ in chosen], [mood for _, mood in chosen], 0)  # type: ignore[misc]


def embedded(texts: Sequence[str], embedder: Embedder, cache: Path | None) -> Vectors:
    """Return the vectors of texts, kept in the folder `cache` under the hash of the texts and the model."""
    key = hashlib.sha256("\x1f".join([embedder.model, *texts]).encode()).hexdigest()[:16]
    path = cache / f"{key}.npy" if cache else None
    if path and path.is_file():
        kept: Vectors = np.load(path)
        return kept
    vectors = embedder.encode(texts)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, vectors)
    return vectors
