"""Coordinates of plots and graphs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from reverie.inspector.drawing import FadingMemory, FadingPlot, fading_plot, relation_graph, stacked_bar
from reverie.policy import load_policy
from reverie.recall.browse import Edge, Graph
from reverie.recall.inspect import Entity

START = datetime(2026, 1, 1, tzinfo=UTC)


def plot(*, keeps: bool, forget_at: datetime | None) -> FadingPlot:
    memory = FadingMemory(
        kind="episode",
        base=0.5,
        peak=0.8,
        happened_at=START,
        accessed_at=START + timedelta(days=10),
        forget_at=forget_at,
        valid_to=None,
        keeps=keeps,
    )
    return fading_plot(memory, load_policy("reverie").fading, START + timedelta(days=20))


def heights(shown: FadingPlot) -> list[float]:
    return [float(point.split(",")[1]) for point in shown.curve.split()]


def test_importance_falls_until_a_memory_is_forgotten() -> None:
    shown = plot(keeps=False, forget_at=START + timedelta(days=100))
    ys = heights(shown)
    assert ys == sorted(ys) and ys[-1] > ys[0]  # down is larger
    assert [mark.label for mark in shown.marks] == ["last used", "now", "forgotten"]
    assert shown.left <= shown.marks[0].x < shown.marks[1].x < shown.marks[2].x <= shown.right
    assert "forgotten on 2026-04-11" in shown.told


def test_what_is_kept_stays_where_it_is() -> None:
    shown = plot(keeps=True, forget_at=None)
    assert len(set(heights(shown))) == 1
    assert "is not forgotten" in shown.told


def test_parts_of_a_score_stand_side_by_side() -> None:
    bars = stacked_bar({"lexical": 0.3, "similarity": 0.5, "novelty": -0.2}, ["similarity", "lexical", "novelty"], 1.0)
    assert [(bar.name, bar.x, bar.width) for bar in bars] == [("similarity", 0.0, 50.0), ("lexical", 50.0, 30.0)]
    assert stacked_bar({"lexical": 0.0}, ["lexical"], 0.0) == []


def test_entities_lie_around_the_subject() -> None:
    entities = [Entity(id=f"person:p{n}", label=f"P{n}" * 20, first_seen_at=START, memories=n) for n in range(1, 9)]
    drawn = relation_graph(Graph(entities=entities, edges=[Edge(source="person:p1", target="person:p2", memories=3)]))
    assert all(0 < node.x < drawn.width and 0 < node.y < drawn.height for node in drawn.nodes)
    assert all(len(node.label) <= 24 for node in drawn.nodes)
    (tie,) = drawn.ties
    assert (tie.x1, tie.y1) == (drawn.nodes[0].x, drawn.nodes[0].y)
    assert len(drawn.spokes) == 8
    assert relation_graph(Graph(entities=[], edges=[])).nodes == []
