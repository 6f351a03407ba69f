"""The mood of a message: one of the policy's moods, an energy and a style, by a chain of steps (Contact 4.1, spec A5).

A language model is asked first where there is one (`capture.mood_model`); what follows when it is late, fails or is
absent is the policy's choice of `classifier` (`linear`), the `previous` mood and the seed's `keywords`.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final, Literal, cast, get_args

import numpy.typing as npt

from reverie.language.cues import linear
from reverie.model import rounded
from reverie.policy import live
from reverie.policy.live import MoodName
from reverie.policy.table import Table

Energy = Literal["high", "medium", "low"]
Style = Literal["playful", "deep", "casual", "supportive", "romantic", "venting"]
Method = Literal["model", "classifier", "previous", "keywords"]
#: Why the model gave no mood: later than the policy allows, or an error, or a reply that names no known mood.
Missed = Literal["late", "failed"]

MOODS: Final[tuple[MoodName, ...]] = get_args(MoodName)
#: Characters by which keywords, shouts and sighs are looked for: the beginning of a long message has its mood.
_READ: Final = 4_000
_ENERGIES: Final[tuple[Energy, ...]] = ("low", "medium", "high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mood:
    """How who wrote a message feels, and which step of the chain says so."""

    mood: MoodName
    energy: Energy
    #: the approach that answers it
    style: Style
    #: probability of the mood, 0 to 1, where the step that told it gives one
    confidence: float | None
    method: Method


class _Keywords(Table):
    mood: MoodName
    energy: Energy
    words: tuple[str, ...]


class _Manner(Table):
    energy: Energy
    style: Style


class _Marks(Table):
    raises: str
    lowers: str


class _Lexicon(Table):
    """`mood.toml`."""

    keywords: tuple[_Keywords, ...]
    manners: dict[MoodName, _Manner]
    energy: _Marks


@cache
def _lexicon() -> _Lexicon:
    return _Lexicon.model_validate(tomllib.loads(files(__package__).joinpath("mood.toml").read_text("utf-8")))


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], _Keywords], ...]:
    """Whole words, any case; a laugh may be longer than the keyword ("hahaha", "loool")."""
    longer = {"haha": "(?:ha){2,}h?", "lol": "lo+l(?:o+l)*"}

    def alternative(word: str) -> str:
        return rf"\b{longer.get(word, re.escape(word))}\b" if word.isascii() else re.escape(word)

    return tuple((re.compile("|".join(map(alternative, row.words)), re.I), row) for row in _lexicon().keywords)


def read_mood(
    text: str,
    *,
    mood: live.MoodPolicy,
    answer: Mood | Missed | None = None,
    vector: npt.ArrayLike | None = None,
    embedding_model: str | None = None,
    previous: Mood | None = None,
) -> Mood:
    """The mood of a message, by the first step of the policy's chain that tells one, else neutral and medium, the
    seed's default. Pure, and far under 1 ms.

    `answer` is what the language model gave, None where no model is configured, which counts as failed. `vector` is the
    unit vector of the whole text from the embedder whose key is `embedding_model`; without one, or from a model that
    the classifier was not trained on, the classifier passes. `previous` is the mood of the subject's last message. A
    step that gives a mood outside the policy's set passes; of the classifier the likeliest mood within it counts.
    """
    if isinstance(answer, Mood) and answer.mood in mood.moods:
        return _suited(answer, mood.moods)
    text = text[:_READ]
    for step in mood.after_late if answer == "late" else mood.after_failure:
        if step == "previous" and previous is not None and previous.mood in mood.moods:
            return _suited(replace(previous, method="previous"), mood.moods)
        if step == "keywords" and (named := by_keywords(text, mood.moods)) is not None:
            return named
        if step == "classifier":
            told = by_vector(vector, embedding_model, mood.moods)
            if told is not None and told[1] >= mood.classifier_confidence:
                return with_manner(text, told[0], confidence=told[1])
    style = _lexicon().manners["neutral"].style
    return Mood(mood="neutral", energy="medium", style=style, confidence=None, method="keywords")


def by_vector(
    vector: npt.ArrayLike | None, embedding_model: str | None, moods: Sequence[MoodName] = MOODS
) -> tuple[MoodName, float] | None:
    """The likeliest of the moods and its probability among all ten; None for vectors that it cannot read."""
    classifier = linear.load("mood_weights.json")
    odds = classifier.probabilities(vector, embedding_model)
    if odds is None:
        return None
    told = dict(zip(cast("tuple[MoodName, ...]", classifier.classes), odds.tolist(), strict=True))
    best = max(moods, key=told.__getitem__)
    return best, told[best]


def by_keywords(text: str, moods: Sequence[MoodName] = MOODS) -> Mood | None:
    """The mood of the seed's first row of keywords that the message has a word of, of rows for one of the moods."""
    for pattern, row in _patterns():
        if row.mood in moods and pattern.search(text):
            style = _lexicon().manners[row.mood].style
            return Mood(mood=row.mood, energy=row.energy, style=style, confidence=None, method="keywords")
    return None


def _suited(told: Mood, moods: Sequence[MoodName]) -> Mood:
    """The mood, not answered in a romantic style where nobody flirts."""
    if told.style != "romantic" or "flirty" in moods:
        return told
    return replace(told, style=_lexicon().manners[told.mood].style)


def with_manner(text: str, mood: MoodName, *, confidence: float) -> Mood:
    """A classified mood with its energy, a step up or down by what the text shouts or sighs, and its style."""
    lexicon = _lexicon()
    manner = lexicon.manners[mood]
    raised = re.search(lexicon.energy.raises, text) is not None
    lowered = re.search(lexicon.energy.lowers, text) is not None
    level = _ENERGIES.index(manner.energy) + raised - lowered
    energy = _ENERGIES[min(max(level, 0), len(_ENERGIES) - 1)]
    # sad and high: "They want to talk about it — engage deeply" (Contact 4.3); one step above what is usual for sad
    style: Style = "deep" if mood == "sad" and energy != "low" else manner.style
    return Mood(mood=mood, energy=energy, style=style, confidence=rounded(confidence), method="classifier")
