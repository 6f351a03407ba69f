"""Which episodes of a subject belong to one theme, and how a pattern says so in words (Brain 4.4, Contact 6.2).

A theme is an entity, or a tool that was called, that episodes share; neither that nor closeness in meaning is enough
alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from reverie.consolidate.compress.quantify import Observation, contrasts, of_decision, of_texts, ranges
from reverie.language.text import plain_name
from reverie.model.arrival import Arrival

#: Contrasts that one pattern tells.
_CONTRASTS = 2
#: Where a quoted episode is cut.
_QUOTE = 140

Vectors = npt.NDArray[np.float32]


@dataclass(kw_only=True, slots=True)
class Theme:
    """The episodes of one subject that share an entity or a tool."""

    subject_id: str
    #: Typed id: `pet:bruno`, `tool:schedule_post`.
    key: str
    #: Episodes linked to it that no pattern holds yet: they belong if they are close enough.
    open: set[UUID] = field(default_factory=set)
    #: Episodes of its pattern; some may be forgotten by now.
    held: set[UUID] = field(default_factory=set)
    #: The pattern it already has.
    pattern_id: UUID | None = None
    #: Outcomes came in that its pattern does not know.
    stale: bool = False
    #: Episodes that joined it now.
    joined: set[UUID] = field(default_factory=set)


@dataclass(frozen=True, kw_only=True, slots=True)
class Episode:
    """An episode as a pattern quotes it."""

    id: UUID
    happened_at: datetime
    content: str
    arrived: Arrival

    @property
    def order(self) -> tuple[datetime, Arrival, UUID]:
        """What sorts episodes by event time, then arrival."""
        return self.happened_at, self.arrived, self.id


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """A turn that episodes come from, with its tool calls and the latest value of each metric that came of it."""

    turn_id: UUID
    said_at: datetime
    speaker: str | None
    tool_calls: Sequence[Mapping[str, Any]]
    #: metric -> (value, positive)
    outcomes: Mapping[str, tuple[float, bool]]


def gather(
    themes: Iterable[Theme], vectors: Mapping[UUID, npt.NDArray[np.float32]], *, least: int, similarity: float
) -> list[Theme]:
    """Give each episode to one theme at most and return the themes that make a new pattern, with `joined` filled.

    The largest theme chooses first, then the closest, then by key; what it takes is gone for the others. A theme needs
    `least` episodes, or a pattern that it already has, and takes the episodes whose cosine to the centre of all its
    episodes is at least `similarity`. Ends when no theme can take any more, so a second run finds nothing to do.
    """
    themes = sorted(themes, key=lambda theme: theme.key)
    offers = {theme.key: _offer(theme, vectors, least, similarity) for theme in themes}
    while offers:
        key = min(offers, key=lambda key: (-offers[key][0], -offers[key][1], key))
        size, _, members = offers[key]
        if size == 0:
            break
        for theme in themes:
            if theme.key == key:
                theme.joined |= members
                theme.held |= members
            if theme.open & members:
                theme.open -= members
                offers[theme.key] = _offer(theme, vectors, least, similarity)
    return [theme for theme in themes if theme.joined or theme.stale]


def _offer(
    theme: Theme, vectors: Mapping[UUID, Vectors], least: int, similarity: float
) -> tuple[int, float, frozenset[UUID]]:
    """Size that the theme would have, mean closeness of those it would take, and them; size 0 if it takes none."""
    free = sorted(id_ for id_ in theme.open if id_ in vectors)
    started = theme.pattern_id is not None or bool(theme.joined)
    if not free or (not started and len(free) < least):
        return 0, 0.0, frozenset()
    centre = centre_of([vectors[id_] for id_ in [*free, *sorted(theme.held & vectors.keys())]])
    closeness = np.stack([vectors[id_] for id_ in free]) @ centre
    near = closeness >= similarity
    members = frozenset(id_ for id_, is_near in zip(free, near, strict=True) if is_near)
    if not members or (not started and len(members) < least):
        return 0, 0.0, frozenset()
    return len(theme.held) + len(members), round(float(closeness[near].mean()), 6), members


def centre_of(vectors: Sequence[Vectors]) -> Vectors:
    """The mean direction of unit vectors, shape (dimensions,), of length 1."""
    total = np.sum(np.stack(vectors), axis=0, dtype=np.float64)
    return np.asarray(total / (np.linalg.norm(total) or 1.0), np.float32)


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """A pattern in the rules' words."""

    text: str
    #: The theme: "Bruno (pet)".
    name: str
    #: The sentences that are worked out, without what is quoted.
    computed: Sequence[str]
    #: What of them whoever words it anew must say in these words: which choice went better and by how much; where
    #: nothing is compared, how often, when and over which range.
    claims: Sequence[str]


def wording(
    theme: Theme,
    label: str,
    episodes: Sequence[Episode],
    decisions: Sequence[Decision],
    vectors: Mapping[UUID, Vectors],
    *,
    contrast_ratio: float,
) -> Told:
    """Say what the episodes have in common, in their own words and numbers; `episodes` and `decisions` in event order.

    With numbers that differ by a choice: which choice went better, and by how much. Otherwise who speaks of what, how
    often, when, the most typical episode and the last.
    """
    kind, _, value = theme.key.partition(":")
    tool = value if kind == "tool" else None
    calls = [(one, call) for one in decisions for call in one.tool_calls if tool in (None, str(call["name"]))]
    observations = _observations(calls, episodes)
    found = contrasts(observations, contrast_ratio)[:_CONTRASTS]
    speakers = {one.speaker for one in decisions if one.speaker}
    speaker = speakers.pop() if len(speakers) == 1 else None
    name = f"{label} ({kind})"
    often = f"{plain_name(speaker)} often" if speaker else "Often"
    verb = f"speaks of {name}" if tool is None else f"calls {label}"
    moments = [one.said_at for one in decisions] or [one.happened_at for one in episodes]
    count = len(moments) if tool is None else len(calls)
    times = f"{count} times {_period(moments)}" if count != 1 else "once"
    spread = [] if found else ranges(observations)
    details = [] if found else [*spread, *_quotes(episodes, {} if tool else vectors)]
    contrasted, seen = [one.sentence() for one in found], f"{often} {verb}: {times}"
    return Told(
        text=". ".join([*contrasted, "; ".join([seen, *details])]) + ".",
        name=name,
        computed=[*contrasted, "; ".join([seen, *spread])],
        claims=[one.claim() for one in found] or [*([times] if count != 1 else []), *spread],
    )


def _observations(
    calls: Sequence[tuple[Decision, Mapping[str, Any]]], episodes: Sequence[Episode]
) -> list[Observation]:
    measured = [
        of_decision(str(call["name"]), call.get("arguments") or {}, one.said_at, metric, value, positive)
        for one, call in calls
        for metric, (value, positive) in sorted(one.outcomes.items())
    ]
    return measured or list(of_texts(episode.content for episode in episodes))


def _quotes(episodes: Sequence[Episode], vectors: Mapping[UUID, Vectors]) -> list[str]:
    """The most typical episode, if there are vectors to tell by, and the last one."""
    if not episodes:
        return []
    last = episodes[-1]
    told = [f"last: '{_cut(last.content)}'"]
    known = [one for one in episodes if one.id in vectors]
    if known:
        centre = centre_of([vectors[one.id] for one in known])
        typical = max(known, key=lambda one: (round(float(vectors[one.id] @ centre), 5), one.id))
        if typical.content != last.content:
            told.insert(0, f"for example '{_cut(typical.content)}'")
    return told


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


def _cut(content: str) -> str:
    flat = " ".join(content.split())
    return flat if len(flat) <= _QUOTE else f"{flat[:_QUOTE].rsplit(' ', 1)[0]} …"
