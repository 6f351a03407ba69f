"""The assignment of a subject's episodes to themes. Pure.

A theme is an entity that episodes share, or a tool that they called; their meaning must be similar as well.
Source: docs/design-sources.md, Brain 4.4 and Contact 6.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from reverie.model.arrival import Arrival

#: A unit vector, shape (dimensions,).
Vector = npt.NDArray[np.float32]


@dataclass(kw_only=True, slots=True)
class Theme:
    """The episodes of one subject that share an entity or a tool."""

    subject_id: str
    #: Typed id: `pet:bruno`, `tool:schedule_post`.
    key: str
    #: Linked episodes that are in no pattern yet; they join if they are close enough.
    open: set[UUID] = field(default_factory=set)
    #: Episodes of its pattern, some of which may have been forgotten.
    held: set[UUID] = field(default_factory=set)
    #: Its existing pattern.
    pattern_id: UUID | None = None
    #: Whether there are outcomes that its pattern does not include.
    stale: bool = False
    #: Episodes that join it in this run.
    joined: set[UUID] = field(default_factory=set)
    #: Members of the sets above that are turns from which no episode was made.
    turns: set[UUID] = field(default_factory=set)


@dataclass(frozen=True, kw_only=True, slots=True)
class Episode:
    """An episode, or a turn from which no episode was made, as a pattern quotes it."""

    id: UUID
    happened_at: datetime
    content: str
    arrived: Arrival

    @property
    def turn_id(self) -> UUID:
        """Its turn; zero if it was made from none."""
        return self.arrived[-1]

    @property
    def order(self) -> tuple[datetime, Arrival, UUID]:
        """Sort key: event time, then arrival."""
        return self.happened_at, self.arrived, self.id


@dataclass(frozen=True, kw_only=True, slots=True)
class ThemeTurn:
    """A turn that episodes come from, with its tool calls and the latest value of each metric of its outcomes."""

    id: UUID
    said_at: datetime
    speaker: str | None
    #: Its text; empty if a correction withholds it.
    text: str
    tool_calls: Sequence[Mapping[str, Any]]
    #: metric -> (value, positive)
    outcomes: Mapping[str, tuple[float, bool]]


@dataclass(frozen=True, kw_only=True, slots=True)
class ThemeEvidence:
    """Everything from which the pattern of a theme is made."""

    #: The name that people use for the theme.
    label: str
    #: In event order.
    episodes: Sequence[Episode]
    #: In event order.
    turns: Sequence[ThemeTurn]
    #: Time of observation, by outcome.
    outcomes: Mapping[UUID, datetime]
    #: Accesses of the older pattern.
    access_count: int = 0
    accessed_at: datetime | None = None

    @property
    def latest(self) -> datetime:
        """Event time of the latest episode, turn or outcome."""
        times = [each.happened_at for each in self.episodes] + [turn.said_at for turn in self.turns]
        return max([*times, *self.outcomes.values()])


def assign_episodes(
    themes: Iterable[Theme], vectors: Mapping[UUID, Vector], *, least: int, similarity: float
) -> list[Theme]:
    """Assign each episode to at most one theme; return the themes that get a new pattern, with `joined` filled.

    The largest theme chooses first; ties are broken by closeness, then by key. A theme needs `least` episodes or an
    existing pattern. It takes the open episodes whose cosine to the centre of all its episodes is at least
    `similarity`. This ends when no theme can take another episode, so a second run has nothing to do.
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
    theme: Theme, vectors: Mapping[UUID, Vector], least: int, similarity: float
) -> tuple[int, float, frozenset[UUID]]:
    """Return the theme's new size, the mean similarity of the episodes to take, and these; size 0 if there are none."""
    free = sorted(id_ for id_ in theme.open if id_ in vectors)
    started = theme.pattern_id is not None or bool(theme.joined)
    if not free or (not started and len(free) < least):
        return 0, 0.0, frozenset()
    centre = centre_of([vectors[id_] for id_ in [*free, *sorted(theme.held & vectors.keys())]])
    similarities = np.stack([vectors[id_] for id_ in free]) @ centre
    near = similarities >= similarity
    members = frozenset(id_ for id_, is_near in zip(free, near, strict=True) if is_near)
    if not members or (not started and len(members) < least):
        return 0, 0.0, frozenset()
    return len(theme.held) + len(members), round(float(similarities[near].mean()), 6), members


def centre_of(vectors: Sequence[Vector]) -> Vector:
    """Return the mean direction of unit vectors, of length 1."""
    total = np.sum(np.stack(vectors), axis=0, dtype=np.float64)
    return np.asarray(total / (np.linalg.norm(total) or 1.0), np.float32)
