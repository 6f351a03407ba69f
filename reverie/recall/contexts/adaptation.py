"""Tone: the emotional context and the advice that follows from it (spec D9; Contact 4.3 and 5.1)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Literal

from reverie.policy.live import RelationshipStage
from reverie.policy.table import Table
from reverie.recall.contexts.request import Given
from reverie.recall.profile import Profile, one_line
from reverie.recall.relationship import Relationship

#: Letters of what happened lately, in the emotional context.
_RECENT_LETTERS = 160
#: How that line begins.
RECENT = "Recent context: "


class _Rule(Table):
    mood: str
    energy: str | None = None
    say: tuple[str, ...]


class _Adaptation(Table):
    """`adaptation.toml`."""

    discovery: tuple[str, ...]
    acquaintance: dict[RelationshipStage | Literal["first"], str]
    trust: dict[RelationshipStage, str]
    rules: tuple[_Rule, ...]


@cache
def _adaptation() -> _Adaptation:
    return _Adaptation.model_validate(tomllib.loads(files(__package__).joinpath("adaptation.toml").read_text("utf-8")))


def adapt(mood: str | None, energy: str | None) -> tuple[str, ...]:
    """Return advice for answering in this mood and energy; nothing for a neutral or unknown mood."""
    fitting = (rule for rule in _adaptation().rules if rule.mood == mood and rule.energy in (None, energy))
    return next((rule.say for rule in fitting), ())


def discovery(stage: RelationshipStage) -> tuple[str, ...]:
    """Return advice for a new relationship; nothing for later stages."""
    return _adaptation().discovery if stage == "new" else ()


def acquaintance(known: Relationship) -> str:
    """Return a sentence about the relationship, for the model."""
    stage: RelationshipStage | Literal["first"] = (
        "first" if known.stage == "new" and known.sessions <= 1 else known.stage
    )
    sentence = _adaptation().acquaintance[stage]
    return sentence.format(sessions=known.sessions, days=known.days, streak=known.streak)


def stage_line(known: Relationship) -> str:
    """Return the stage of the relationship as Contact 4.3 words it; of somebody new, the sentence."""
    if known.stage == "new":
        return acquaintance(known)
    return f"Relationship stage: {known.stage} ({known.days} days, {_adaptation().trust[known.stage]})"


def emotional_context(given: Given, profile: Profile, relationship: str) -> Iterator[str]:
    """Yield the lines of the emotional context; nothing without a mood.

    `relationship` is the line that says how well the subject is known.
    """
    if not given.mood:
        return
    energy = f" (energy: {one_line(given.energy)})" if given.energy else ""
    yield f"Current mood: {one_line(given.mood)}{energy}"
    usual = [one_line(given.usual_mood or ""), f"{one_line(given.usual_energy)}-energy" if given.usual_energy else ""]
    if unusual(given) and any(usual):
        yield f"This is unusual: normally {' and '.join(part for part in usual if part)}"
    yield relationship
    if profile.recent:
        latest = profile.recent[0]
        told = one_line(latest.content)
        short = told if len(told) <= _RECENT_LETTERS else f"{told[:_RECENT_LETTERS]}…"
        day = "" if latest.kind == "summary" else f" ({latest.happened_at:%Y-%m-%d})"  # a summary begins with its own
        yield f"{RECENT}{short}{day}"


def unusual(given: Given) -> bool:
    """Whether mood or energy differ from the usual ones, if these are known."""
    moods = given.usual_mood is not None and given.usual_mood != given.mood
    return moods or (given.usual_energy is not None and given.usual_energy != given.energy)
