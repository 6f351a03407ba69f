"""Patterns in the rules' words: the common ground of a theme's episodes, in their own words and numbers. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from reverie.consolidate.compress.quantify import (
    Measurement,
    call_measurement,
    compare_choices,
    describe_ranges,
    reported_measurements,
    text_measurements,
)
from reverie.consolidate.compress.themes import Episode, Theme, ThemeEvidence, ThemeTurn, Vector, centre_of
from reverie.consolidate.compress.thing_names import thing_name
from reverie.language.text import plain_name

#: Comparisons that one pattern states.
_COMPARISONS = 2
#: Longest quotation of an episode, in characters.
_QUOTE = 140


@dataclass(frozen=True, kw_only=True, slots=True)
class PatternText:
    """A pattern in the rules' words."""

    text: str
    #: Name of the theme: "Bruno (pet)".
    name: str
    #: The computed sentences, without the quotations.
    computed: Sequence[str]
    #: Phrases that any other wording must contain: the better choice and its margin; without a comparison, frequency,
    #: period and range.
    claims: Sequence[str]


def pattern_text(
    theme: Theme, evidence: ThemeEvidence, vectors: Mapping[UUID, Vector], *, contrast_ratio: float
) -> PatternText:
    """Word the pattern of a theme.

    If numbers differ by a choice, the pattern states the better choice and its margin. Otherwise it states who speaks
    of the theme, how often and when, with the most typical episode and the last one.
    """
    kind, _, value = theme.key.partition(":")
    tool = value if kind == "tool" else None
    episodes, turns = evidence.episodes, evidence.turns
    calls = [(turn, call) for turn in turns for call in turn.tool_calls if tool in (None, str(call["name"]))]
    measurements = _measurements(calls, episodes, contrast_ratio)
    comparisons = compare_choices(measurements, contrast_ratio)[:_COMPARISONS]
    speakers = {turn.speaker for turn in turns if turn.speaker}
    speaker = speakers.pop() if len(speakers) == 1 else None
    name = (
        thing_name(evidence.label, (episode.content for episode in episodes))
        if kind == "thing"
        else f"{evidence.label} ({kind})"
    )
    often = f"{plain_name(speaker)} often" if speaker else "Often"
    verb = f"speaks of {name}" if tool is None else f"calls {evidence.label}"
    times = [turn.said_at for turn in turns] or [episode.happened_at for episode in episodes]
    count = len(times) if tool is None else len(calls)
    frequency = f"{count} times {_period(times)}" if count != 1 else "once"
    # the turn of a merged or forgotten episode is counted too; a turn that calls a tool need not tell its numbers
    kept = {episode.turn_id for episode in episodes}
    texts = [turn.text for turn in turns if turn.id not in kept] if tool is None else []
    ranges = [] if comparisons else describe_ranges(measurements, texts)
    quotations = [] if comparisons else _quotations(episodes, {} if tool else vectors)
    compared, habit = [each.sentence() for each in comparisons], f"{often} {verb}: {frequency}"
    return PatternText(
        text=". ".join([*compared, "; ".join([habit, *ranges, *quotations])]) + ".",
        name=name,
        computed=[*compared, "; ".join([habit, *ranges])],
        claims=[each.claim() for each in comparisons] or [*([frequency] if count != 1 else []), *ranges],
    )


def _measurements(
    calls: Sequence[tuple[ThemeTurn, Mapping[str, Any]]], episodes: Sequence[Episode], contrast_ratio: float
) -> list[Measurement]:
    measured = [
        call_measurement(str(call["name"]), call.get("arguments") or {}, turn.said_at, metric, value, positive)
        for turn, call in calls
        for metric, (value, positive) in sorted(turn.outcomes.items())
    ]
    if measured:
        return measured
    alike = list(text_measurements(episode.content for episode in episodes))
    if compare_choices(alike, contrast_ratio) or describe_ranges(alike):
        return alike
    return reported_measurements(episode.content for episode in episodes)


def _quotations(episodes: Sequence[Episode], vectors: Mapping[UUID, Vector]) -> list[str]:
    """Return quotations of the most typical episode, if there are vectors to find it, and of the last one."""
    if not episodes:
        return []
    last = episodes[-1]
    quotations = [f"last: '{_shortened(last.content)}'"]
    embedded = [episode for episode in episodes if episode.id in vectors]
    if embedded:
        centre = centre_of([vectors[episode.id] for episode in embedded])
        typical = max(embedded, key=lambda episode: (round(float(vectors[episode.id] @ centre), 5), episode.id))
        if typical.content != last.content:
            quotations.insert(0, f"for example '{_shortened(typical.content)}'")
    return quotations


def _period(times: Sequence[datetime]) -> str:
    first, last = times[0], times[-1]
    end = f"{last.day} {last:%B %Y}"
    if first.date() == last.date():
        return f"on {end}"
    start = f"{first.day}"
    if (first.year, first.month) != (last.year, last.month):
        start += f" {first:%B}"
    if first.year != last.year:
        start += f" {first.year}"
    return f"from {start} to {end}"


def _shortened(content: str) -> str:
    line = " ".join(content.split())
    return line if len(line) <= _QUOTE else f"{line[:_QUOTE].rsplit(' ', 1)[0]} …"
