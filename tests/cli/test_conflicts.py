"""`reverie conflicts`, and what `show`, `explain` and `undo` say of a superseded memory."""

from __future__ import annotations

import pytest

from tests.cli.conftest import RUN, day, insert


@pytest.fixture
def superseded(conn, world):
    """Loves Bruno, until something else was said."""
    conn.execute(
        """update memory.memories set state = 'superseded', relation = 'likes', object = 'Bruno', phase = 'holds',
               valid_from = %s, valid_to = %s, superseded_by = %s
           where id = %s""",
        [day(0), day(2), world["walked"], world["loves"]],
    )
    return world["loves"]


@pytest.fixture
def conflict(conn, world):
    """Two memories in conflict."""
    insert(
        conn, "memory.conflicts", subject_id="ana", memory_id=world["loves"], other_id=world["walked"],
        relation="lives_in", reason="same_time", since=day(2), run_id=RUN,
    )  # fmt: skip


def test_there_are_none(invoke, ask, world) -> None:
    assert ask("conflicts")["conflicts"] == []
    assert invoke("conflicts").stdout == "There are no conflicts.\n"


def test_conflicts_are_listed(invoke, ask, world, conflict) -> None:
    (listed,) = ask("conflicts", "ana")["conflicts"]
    assert (listed["memory_id"], listed["other_id"]) == (str(world["loves"]), str(world["walked"]))
    assert (listed["relation"], listed["reason"]) == ("lives_in", "same_time")
    text = invoke("conflicts").stdout
    assert "ana, lives in: stated at the same time" in text
    assert "Loves Bruno" in text and "Walked Bruno" in text
    assert ask("conflicts", "ben")["conflicts"] == []
    assert ask("conflicts", "--limit", "1")["more"] is False
    assert "in conflict with" in invoke("explain", str(world["loves"])).stdout


def test_show_leaves_out_what_is_superseded(invoke, ask, world, superseded) -> None:
    assert str(superseded) not in [memory["id"] for memory in ask("show", "ana")["subject"]["memories"]]
    shown = {memory["id"]: memory for memory in ask("show", "ana", "--all")["subject"]["memories"]}
    assert shown[str(superseded)]["superseded_by"] == str(world["walked"])
    assert f"[until {day(2):%Y-%m-%d}] Loves Bruno" in invoke("show", "ana", "--all").stdout
    assert "1 superseded" in invoke("show", "ana").stdout


def test_explain_says_what_superseded_it(invoke, ask, world, superseded) -> None:
    explained = ask("explain", str(superseded))["memory"]
    assert explained["memory"]["superseded_by"] == str(world["walked"])
    text = " ".join(invoke("explain", str(superseded)).stdout.split())
    assert "superseded by" in text and "reverie undo puts it back" in text
    assert "likes: Bruno (holds)" in text


def test_undo_puts_it_back(ask, world, superseded) -> None:
    undone = ask("undo", str(superseded), "--as-of", "2026-03-06")
    assert undone["survivor_id"] == str(world["walked"])
    assert ask("undo", str(superseded), "--as-of", "2026-03-07") == undone
    assert ask("show", "ana")["subject"]["states"] == {"active": 2, "merged": 1}
