"""The mood of each message of a request, before the session's mood is known (spec A5).

If the chain falls back on the previous mood, the statement that writes the turn reads it, to save a round trip.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy.typing as npt
import orjson

from reverie.capture.live.readings import Reading
from reverie.language.cues.mood import Missed, Mood, in_crisis, read_mood
from reverie.model import Turn
from reverie.policy.live import MoodPolicy

#: The placeholder for a previous mood that is not known yet.
_UNKNOWN: Final = Mood(mood="neutral", energy="medium", style="casual", confidence=None, method="previous")


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageMood:
    """The mood of one message, as far as it is known without the session's mood."""

    mood: Mood
    #: Whether the session's mood, if it has one of the same author, takes precedence.
    inherits: bool

    def stored(self) -> str:
        """Return the mood as it is stored."""
        return orjson.dumps(asdict(self.mood)).decode()


def tell_moods(
    turns: Sequence[Turn],
    *,
    numbers: MoodPolicy,
    answers: Mapping[int, Mood | Missed],
    vectors: Mapping[int, npt.ArrayLike],
    embedding_model: str | None,
    readings: Sequence[Reading],
) -> list[MessageMood | None]:
    """Return the mood of each turn; None for turns without a user's text.

    `answers` are the language model's moods and `vectors` the embedder's vectors of the texts, by place, if there are
    any. `readings` has the findings of the rules in each turn.
    """
    told: list[MessageMood | None] = []
    lasts: dict[str | None, MessageMood] = {}  # of each author
    for place, turn in enumerate(turns):
        if turn.role != "user" or not turn.text:
            told.append(None)
            continue
        chain: dict[str, Any] = {
            "mood": numbers,
            "answer": answers.get(place),
            "vector": vectors.get(place),
            "embedding_model": embedding_model,
            "instructs": any(each.kind == "instruction" for each in readings[place].noticed.candidates),
        }
        falls_back = read_mood(turn.text, **chain, previous=_UNKNOWN).method == "previous"
        last = lasts.get(author := _author(turn))
        if readings[place].signs:
            last = MessageMood(mood=in_crisis(read_mood(turn.text, **chain), numbers.moods), inherits=False)
        elif last is None:
            last = MessageMood(mood=read_mood(turn.text, **chain), inherits=falls_back)
        elif falls_back:
            last = MessageMood(mood=replace(last.mood, method="previous"), inherits=last.inherits)
        else:
            last = MessageMood(mood=read_mood(turn.text, **chain, previous=last.mood), inherits=False)
        lasts[author] = last
        told.append(last)
    return told


def _author(turn: Turn) -> str | None:
    """Return the speaker; None: the subject, by name or without one. `acknowledge` compares authors in the same way."""
    return None if turn.speaker and turn.speaker.lower() == turn.subject_id.lower() else turn.speaker


def read_stored(stored: Mapping[str, Any] | None) -> Mood | None:
    """Return a mood as it is stored."""
    return None if stored is None else Mood(**{name: stored[name] for name in Mood.__dataclass_fields__})
