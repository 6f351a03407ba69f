"""In a window of 80 columns no id is broken, however long."""

from __future__ import annotations

import pytest
from psycopg.sql import SQL, Identifier

from reverie.cli import output
from reverie.cli.widths import fitting, least_width, shared_widths

MEMORY = "019cb000-0000-8000-8000"
LONG = "customer of the northern branch 2026 / " + "x" * 60


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch):
    def set_columns(number: int) -> None:
        monkeypatch.setenv("COLUMNS", str(number))
        monkeypatch.setattr(output, "is_terminal", lambda: True)

    return set_columns


def test_widths_are_decided() -> None:
    assert least_width(["memory", "Loves Bruno and his park"], folds=True) == 20
    assert least_width(["memory", "a" * 30, "b c"], folds=True) == 30
    assert least_width(["subject", "a b " * 10], folds=False) == 40
    assert fitting([10, 50, 20], 70) == [0, 2]
    assert fitting([10, 50, 20], 60, kept=[1]) == [0, 1]
    assert fitting([10, 50, 20], 20, kept=[1]) == [1]
    assert fitting([100], 70) == [0]
    assert shared_widths([10, 50, 40], [10, 20, 20], 70) == [10, 30, 30]
    assert shared_widths([10, 5], [10, 5], 70) == [10, 5]


@pytest.mark.parametrize("columns", [80, 100, 160])
def test_a_row_is_whole_and_no_id_is_broken(window, capsys, columns: int) -> None:
    window(columns)
    heads = ("importance", "last used", "subject", "id", "memory", "about")
    content = "Loves Bruno and walks with him in the park every day of the week"
    row = ("0.80", "2026-03-01", LONG, MEMORY, content, "pet:bruno place:park")
    output.table(heads, [row, row], ids=("subject",))
    text = capsys.readouterr().out
    assert text.count(MEMORY) == 2
    assert text.count(LONG) == 2
    assert text.count("pet:bruno") == text.count("place:park") == 2
    assert set(" ".join(text.split()).split()) >= set(content.split())


def test_a_text_folds_where_there_is_room_for_ids(window, capsys) -> None:
    window(80)
    output.table(("score", "id", "remembered"), [("0.812", MEMORY, "walks with Bruno " * 12)], right=("score",))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) > 4
    assert MEMORY in lines[2]


@pytest.mark.parametrize(
    "command",
    [
        ("show", LONG),
        ("show", LONG, "--all"),
        ("runs",),
        ("recall", "dogs", "--subject", LONG),
        ("context", LONG),
        ("subjects",),
        ("tenants",),
        ("keys", "list"),
        ("explain", "019cb003"),
        ("dead-letters", "list", "--each"),
        ("digest",),
        ("costs",),
    ],
)
def test_commands_at_80_columns(invoke, conn, world, window, command: tuple[str, ...]) -> None:
    for name in ("turns", "outcomes"):
        conn.execute(SQL("update {} set subject_id = %s").format(Identifier("log", name)), [LONG])
    for name in ("memories", "entities", "links", "merges", "tombstones"):
        conn.execute(SQL("update {} set subject_id = %s").format(Identifier("memory", name)), [LONG])
    conn.execute(
        "insert into ops.dead_letters (tenant_id, id, source, line, reason, detail) values "
        "('acme', '00000000-0000-8000-8000-0123456789ab', 'my chats of may.csv', 7, 'naive_time', 'said_at is a text')"
    )
    wide, narrow = {"COLUMNS": "400"}, {"COLUMNS": "80"}
    window(80)
    found = [invoke(*command, env=columns) for columns in (wide, narrow)]
    assert [each.exit_code for each in found] == [0, 0], found[1].output
    names = {word for word in found[0].stdout.split() if len(word) > 12 and word.isascii()} - {"subject", "remembered"}
    assert names <= set(found[1].stdout.split())
    assert found[0].stdout.count(LONG) == found[1].stdout.count(LONG)
