"""The blocks of docs/marts.md, on marts that dbt built."""

from __future__ import annotations

import os
from pathlib import Path

import psycopg

from reverie.store.connect import connect
from tests.docs.blocks import Block, blocks
from tests.docs.shell import Shell
from tests.docs.test_blocks import run_statements

PAGE = [block for block in blocks() if block.page == "docs/marts.md" and block.note == "test"]


def of(language: str) -> list[Block]:
    found = [block for block in PAGE if block.language == language]
    assert found
    return found


def test_data_teams_may_ask_what_the_page_asks(analyst: psycopg.Connection) -> None:
    first, _ = of("sql")
    run_statements(analyst, first.text)
    assert first.text.count(";\n") > 10


def test_the_login_of_a_data_team_is_made(built: str) -> None:
    _, login = of("sql")
    with connect(built) as conn, conn.transaction(force_rollback=True):
        run_statements(conn, login.text)
        conn.execute("set role dana")
        conn.execute("select from marts.tenants")


def test_the_commands_run(built: str, tmp_path: Path) -> None:
    shell = Shell(folder=tmp_path, variables=dict(os.environ) | {"DATABASE_URL": built})
    outputs = [shell.run(block.text) for block in of("bash")]
    assert "acme" in outputs[-1]


def test_nothing_of_the_page_is_left_out() -> None:
    assert {block.language for block in PAGE} == {"bash", "sql"} and len(PAGE) == 4
