"""Plots and graphs as coordinates, from which the templates make SVG, with classes instead of styles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from reverie.model import Kind
from reverie.policy.fading import Fading
from reverie.recall.browse import Graph

#: Size of a fading plot, with its axes, in units of the drawing.
PLOT_WIDTH, PLOT_HEIGHT = 420, 180
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 12, 12, 12
#: Segments of a curve.
_STEPS = 80
#: The time drawn for a memory that is never forgotten.
_HORIZON = timedelta(days=365)
#: Size of a graph of entities.
GRAPH_WIDTH, GRAPH_HEIGHT = 760, 520
#: Number of signal colours in the style sheet.
SIGNAL_COLOURS = 12


class Mark(NamedTuple):
    """A mark on the time axis."""

    x: float
    label: str
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class FadingPlot:
    """The importance of a memory over time."""

    #: Points of the curve since the last access, in SVG's format.
    curve: str
    #: Points of the line from when it was new to the last access.
    before: str
    #: Height of the importance below which a memory may be forgotten.
    threshold: float
    marks: Sequence[Mark]
    #: Heights of 0, 0.5 and 1.
    ticks: Sequence[tuple[float, str]]
    #: A description of the plot in words.
    told: str
    width: int = PLOT_WIDTH
    height: int = PLOT_HEIGHT
    left: int = _LEFT
    right: int = PLOT_WIDTH - _RIGHT
    bottom: int = PLOT_HEIGHT - _BOTTOM
    top: int = _TOP


@dataclass(frozen=True, kw_only=True, slots=True)
class FadingMemory:
    """The inputs of a memory's fading."""

    kind: Kind
    base: float
    peak: float
    happened_at: datetime
    accessed_at: datetime
    forget_at: datetime | None
    valid_to: datetime | None
    #: Whether it keeps its importance: it is lasting, or a person pinned it.
    keeps: bool


def fading_plot(memory: FadingMemory, fading: Fading, now: datetime) -> FadingPlot:
    """Return the plot of a memory from when it was new until it is forgotten, by the closed formula of fading."""
    start = min(memory.happened_at, memory.accessed_at)
    end = max(memory.forget_at or now + _HORIZON, now, start + timedelta(days=1))
    end += (end - start) * 0.04
    span = (end - start).total_seconds()

    def x(at: datetime) -> float:
        share = (at - start).total_seconds() / span
        return round(_LEFT + share * (PLOT_WIDTH - _LEFT - _RIGHT), 1)

    def y(value: float) -> float:
        return round(_TOP + (1 - min(value, 1.0)) * (PLOT_HEIGHT - _TOP - _BOTTOM), 1)

    def value(at: datetime) -> float:
        lasting = memory.keeps and memory.valid_to is None
        return fading.value_at(
            memory.kind, memory.peak, memory.accessed_at, at, lasting=lasting, valid_to=memory.valid_to
        )

    last = min(memory.forget_at or end, end)
    length = max((last - memory.accessed_at).total_seconds(), 0.0)
    times = [memory.accessed_at + timedelta(seconds=length * step / _STEPS) for step in range(_STEPS + 1)]
    marks = [Mark(x(memory.accessed_at), "last used", memory.accessed_at), Mark(x(now), "now", now)]
    if memory.forget_at is not None:
        marks.append(Mark(x(memory.forget_at), "forgotten", memory.forget_at))
    return FadingPlot(
        curve=" ".join(f"{x(at)},{y(value(at))}" for at in times),
        before=f"{x(start)},{y(memory.base)} {x(memory.accessed_at)},{y(memory.peak)}",
        threshold=y(fading.below),
        marks=marks,
        ticks=[(y(each), f"{each:g}") for each in (0.0, 0.5, 1.0)],
        told=_told(memory, value(now), fading),
    )


def _told(memory: FadingMemory, now: float, fading: Fading) -> str:
    end = f", and is forgotten on {memory.forget_at:%Y-%m-%d}" if memory.forget_at else ", and is not forgotten"
    return (
        f"Importance was {memory.base:.2f} when new and {memory.peak:.2f} when last used on "
        f"{memory.accessed_at:%Y-%m-%d}. It is {now:.2f} now{end}. Below {fading.below:g} a memory may be forgotten."
    )


class Bar(NamedTuple):
    """A part of a stacked bar, in percent of its width."""

    name: str
    x: float
    width: float
    value: float
    #: Number of its colour.
    colour: int


def stacked_bar(parts: Mapping[str, float], names: Sequence[str], scale: float) -> list[Bar]:
    """Return the parts of a score side by side; `scale`: the score that fills the bar, `names`: the order of colours.

    Negative parts are not drawn: the table beside the bar has them.
    """
    bars, at = [], 0.0
    for name, value in sorted(parts.items(), key=lambda part: -part[1]):
        if value > 0 and scale > 0:
            width = 100 * value / scale
            bars.append(Bar(name, round(at, 3), round(width, 3), value, names.index(name) % SIGNAL_COLOURS))
            at += width
    return bars


class Node(NamedTuple):
    """An entity in a graph."""

    id: str
    label: str
    x: float
    y: float
    radius: float
    memories: int
    #: The text anchor of its name: start, middle or end.
    anchor: str
    text_x: float
    text_y: float


class DrawnTie(NamedTuple):
    """A line between two entities, or between the subject and an entity."""

    x1: float
    y1: float
    x2: float
    y2: float
    width: float
    told: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RelationGraph:
    """The entities of a subject around it, with a tie between two that memories name together."""

    nodes: Sequence[Node]
    #: Between entities.
    ties: Sequence[DrawnTie]
    #: From the subject in the middle.
    spokes: Sequence[DrawnTie]
    width: int = GRAPH_WIDTH
    height: int = GRAPH_HEIGHT


def relation_graph(graph: Graph) -> RelationGraph:
    """Return entities on an ellipse around the subject, in the order of the graph, the most frequent on top."""
    middle_x, middle_y = GRAPH_WIDTH / 2, GRAPH_HEIGHT / 2
    most = max((entity.memories for entity in graph.entities), default=1) or 1
    nodes = []
    for place, entity in enumerate(graph.entities):
        angle = 2 * math.pi * place / len(graph.entities) - math.pi / 2
        # every second one is nearer to the middle, so that names do not overlap
        reach = 1.0 if place % 2 == 0 else 0.72
        x = middle_x + reach * (GRAPH_WIDTH / 2 - 130) * math.cos(angle)
        y = middle_y + reach * (GRAPH_HEIGHT / 2 - 46) * math.sin(angle)
        radius = 7 + 9 * math.sqrt(entity.memories / most)
        side = math.cos(angle)
        anchor = "middle" if abs(side) < 0.25 else "start" if side > 0 else "end"
        down = radius + 14 if math.sin(angle) >= 0 else -radius - 6
        away = {"middle": 0.0, "start": radius + 5, "end": -radius - 5}[anchor]
        text = (x + away, y + (down if anchor == "middle" else 4))
        nodes.append(_node(entity.id, entity.label, (x, y), radius, entity.memories, anchor, text))
    places = {node.id: node for node in nodes}
    ties = [
        DrawnTie(
            places[edge.source].x,
            places[edge.source].y,
            places[edge.target].x,
            places[edge.target].y,
            round(min(1 + edge.memories / 2, 6), 1),
            f"{places[edge.source].label} and {places[edge.target].label}: {edge.memories} memories name both",
        )
        for edge in graph.edges
        if edge.source in places and edge.target in places
    ]
    spokes = [
        DrawnTie(middle_x, middle_y, node.x, node.y, 1.0, f"{node.label}: {node.memories} memories") for node in nodes
    ]
    return RelationGraph(nodes=nodes, ties=ties, spokes=spokes)


def _node(
    id_: str,
    label: str,
    place: tuple[float, float],
    radius: float,
    memories: int,
    anchor: str,
    text: tuple[float, float],
) -> Node:
    short = label if len(label) <= 24 else f"{label[:23]}…"
    x, y, text_x, text_y = (round(each, 1) for each in (*place, *text))
    return Node(id_, short, x, y, round(radius, 1), memories, anchor, text_x, text_y)
