"""Classifies the mood of a message: a mood of the policy, an energy and a response style.

A language model is asked first, if one is configured (`capture.live.mood_model`). If it is late, fails or is absent,
the policy chooses the fallbacks: the `classifier` (`linear`), the `previous` mood, and `keywords`.

Source: docs/design-sources.md, Contact 4.1.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, Literal, cast, get_args

import numpy.typing as npt

from reverie.language.cues import linear
from reverie.language.pack import read_table
from reverie.model import rounded
from reverie.policy import live
from reverie.policy.live import MoodName
from reverie.policy.table import Table

Energy = Literal["high", "medium", "low"]
Style = Literal["playful", "deep", "casual", "supportive", "romantic", "venting"]
Method = Literal["model", "classifier", "previous", "keywords"]
#: Why the model gave no mood: `late` (past the policy's limit), or `failed` (an error, or no known mood in the reply).
Missed = Literal["late", "failed"]

MOODS: Final[tuple[MoodName, ...]] = get_args(MoodName)
#: Moods towards the listener. An instruction such as "Never suggest meat" shows neither.
OPPOSED: Final = frozenset(("angry", "frustrated"))
#: Moods that a message with signs of a crisis can have.
_HEAVY: Final = OPPOSED | {"sad", "anxious"}
#: Only this many characters are searched for keywords and marks of energy.
_READ: Final = 4_000
_ENERGIES: Final[tuple[Energy, ...]] = ("low", "medium", "high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mood:
    """The author's mood, and the step of the chain that classified it."""

    mood: MoodName
    energy: Energy
    #: the style of a suitable response
    style: Style
    #: probability of the mood, 0 to 1; None if the step gives none
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
    #: patterns of keywords that may be longer
    longer: dict[str, str]


@cache
def _lexicon() -> _Lexicon:
    return _Lexicon.model_validate(read_table("mood"))


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], _Keywords], ...]:
    """Return patterns of whole words, ignoring case; a laugh may be longer than its keyword ("hahaha", "loool")."""
    longer = _lexicon().longer

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
    instructs: bool = False,
) -> Mood:
    """Return the mood of a message, by the first step of the policy's chain that gives one; else neutral and medium.

    The previous mood is over once the classifier has judged a message and found it most likely neutral, even if it is
    not sure.

    Pure, and far faster than 1 ms.

    Args:
        text: The message.
        mood: The heading `[mood]` of the policy. A step whose mood it does not list is skipped; of the classifier, the
            most probable listed mood counts.
        answer: The language model's answer. None: no model is configured, which counts as failed.
        vector: Unit vector of the whole text. Without one, the classifier is skipped.
        embedding_model: Key of the model of `vector`. The classifier is skipped if it was trained on another.
        previous: The mood of the subject's previous message.
        instructs: Whether the message gives an instruction. Unless it shouts, the classifier finds no anger in it.
    """
    if isinstance(answer, Mood) and answer.mood in mood.moods:
        return _suited(answer, mood.moods)
    text = text[:_READ]
    is_over = False
    for step in mood.after_late if answer == "late" else mood.after_failure:
        if step == "previous" and not is_over and previous is not None and previous.mood in mood.moods:
            return _suited(replace(previous, method="previous"), mood.moods)
        if step == "keywords" and (named := by_keywords(text, mood.moods)) is not None:
            return named
        if step == "classifier":
            calm = instructs and re.search(_lexicon().energy.raises, text) is None
            moods = [each for each in mood.moods if not (calm and each in OPPOSED)]
            classified = by_vector(vector, embedding_model, moods)
            if classified is not None and classified[1] >= mood.classifier_confidence:
                return with_manner(text, classified[0], confidence=classified[1])
            is_over = classified is not None and classified[0] == "neutral"
    style = _lexicon().manners["neutral"].style
    return Mood(mood="neutral", energy="medium", style=style, confidence=None, method="keywords")


def by_vector(
    vector: npt.ArrayLike | None, embedding_model: str | None, moods: Sequence[MoodName] = MOODS
) -> tuple[MoodName, float] | None:
    """Return the most probable of the moods, and its probability among all ten; None without a usable vector."""
    classifier = linear.load("mood_weights.json")
    odds = classifier.probabilities(vector, embedding_model)
    if odds is None:
        return None
    by_mood = dict(zip(cast("tuple[MoodName, ...]", classifier.classes), odds.tolist(), strict=True))
    best = max(moods, key=by_mood.__getitem__)
    return best, by_mood[best]


def by_keywords(text: str, moods: Sequence[MoodName] = MOODS) -> Mood | None:
    """Return the mood of the first row of `mood.toml` for one of the moods that has a keyword of the message."""
    for pattern, row in _patterns():
        if row.mood in moods and pattern.search(text):
            style = _lexicon().manners[row.mood].style
            return Mood(mood=row.mood, energy=row.energy, style=style, confidence=None, method="keywords")
    return None


def in_crisis(told: Mood, moods: Sequence[MoodName]) -> Mood:
    """Return the mood of a message with signs of a crisis: sad instead of a good or neutral one, if the policy has it.

    A language model's mood stays, since the model has read the message.
    """
    if told.method == "model" or told.mood in _HEAVY or "sad" not in moods:
        return told
    manner = _lexicon().manners["sad"]
    return Mood(mood="sad", energy=manner.energy, style=manner.style, confidence=None, method="keywords")


def _suited(mood: Mood, moods: Sequence[MoodName]) -> Mood:
    """Return the mood, without the romantic style if the policy has no flirty mood."""
    if mood.style != "romantic" or "flirty" in moods:
        return mood
    return replace(mood, style=_lexicon().manners[mood.mood].style)


def with_manner(text: str, mood: MoodName, *, confidence: float) -> Mood:
    """Return a classified mood with its style and its energy, one step up or down by marks such as "!!" and "..."."""
    lexicon = _lexicon()
    manner = lexicon.manners[mood]
    raised = re.search(lexicon.energy.raises, text) is not None
    lowered = re.search(lexicon.energy.lowers, text) is not None
    level = _ENERGIES.index(manner.energy) + raised - lowered
    energy = _ENERGIES[min(max(level, 0), len(_ENERGIES) - 1)]
    # more energy than usual for a sad message: its author wants to talk about it (docs/design-sources.md, Contact 4.3)
    style: Style = "deep" if mood == "sad" and energy != "low" else manner.style
    return Mood(mood=mood, energy=energy, style=style, confidence=rounded(confidence), method="classifier")
