"""Every code block of README, docs and the clients' READMEs runs, or a note above it says why not."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from reverie.policy import load_policy
from reverie.store.connect import connect
from reverie.testing import DatabaseFactory
from tests.cli.test_examples import parse
from tests.clients.conftest import LiveServer, serving
from tests.clients.test_sessions import Scripted, model
from tests.docs.blocks import LANGUAGES, OWN_TESTS, ROOT, Block, blocks, blocks_here
from tests.docs.shell import Shell, calls_in

__all__ = ["model"]  # a fixture

#: Exit codes that pages announce.
CODES = {"--gate": 11}
#: Tenants of pages whose commands take long with much memory.
SMALLER = {"docs/rebuilding.md": {"--tenant demo": "--tenant acme"}}


def place(block: Block) -> str:
    return block.place


def test_every_block_has_a_language_and_nothing_is_left_out_without_a_reason() -> None:
    assert len(blocks()) > 80
    assert [block.place for block in blocks() if block.language not in LANGUAGES] == []
    unknown = [block for block in blocks() if block.note and not (block.reason or block.is_tested_apart)]
    assert [(block.place, block.note) for block in unknown if block.note.startswith(("test", "not"))] == []
    for page in {block.page for block in blocks() if block.is_tested_apart}:
        assert Path(page).name in (ROOT / OWN_TESTS[page]).read_text(encoding="utf-8"), page


def test_what_is_not_run_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    """Prints the list; a reason is a sentence, and few blocks have one."""
    left_out = [block for block in blocks() if block.reason]
    with capsys.disabled():
        print("", *(f"{block.place}: {block.reason}" for block in left_out), sep="\n  ")
    assert all(len(block.reason.split()) >= 4 for block in left_out)
    assert len(left_out) < len(blocks()) / 4


@pytest.mark.parametrize("block", [each for each in blocks() if each.language == "bash"], ids=place)
def test_commands_take_the_arguments_that_they_are_given(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every block, those that are not run as well."""
    monkeypatch.chdir(tmp_path)
    for name in ("analytics.json", "your.jsonl", "mine.toml", "receipts.jsonl"):
        Path(name).write_text("{}")
    for arguments in calls_in(block.text):
        parse([str(UUID(int=0)) if each == "ID" else each for each in arguments])


@pytest.mark.parametrize("page", sorted({block.page for block in blocks_here("bash")}))
def test_commands_run(page: str, shell: Shell) -> None:
    _write_files(shell.folder)
    shell.codes = CODES
    shell.substitutes |= SMALLER.get(page, {})
    for block in blocks_here("bash", page=page):
        shell.run(block.text)


@pytest.mark.parametrize("block", blocks_here("json"), ids=place)
def test_json_can_be_read(block: Block) -> None:
    _records(block)


@pytest.mark.parametrize("block", blocks_here("toml"), ids=place)
def test_policies_are_policies(block: Block, tmp_path: Path) -> None:
    base = "" if block.text.startswith("base = ") else 'base = "reverie"\n'
    (path := tmp_path / "ours.toml").write_text(base + block.text, encoding="utf-8")
    assert load_policy(str(path)).name == "ours"


@pytest.mark.parametrize("block", blocks_here("yaml"), ids=place)
def test_a_component_is_that_of_the_example_project(block: Block) -> None:
    """Which tests/orchestration/test_component.py loads."""
    assert block.text == (ROOT / "deployments/example_project/src/shop/defs/reverie/defs.yaml").read_text("utf-8")


@pytest.mark.parametrize("block", blocks_here("sql"), ids=place)
def test_statements_run(block: Block, shell: Shell) -> None:
    with connect(shell.variables["DATABASE_URL"], role="analyst") as conn:
        run_statements(conn, block.text)


def run_statements(conn: psycopg.Connection[Any], text: str) -> None:
    """Run each statement of a block."""
    for statement in filter(str.strip, text.split(";\n")):
        conn.execute(statement)


@pytest.fixture(scope="module")
def live(sample: str, database_factory: DatabaseFactory) -> Iterator[LiveServer]:
    """The server of the pages, on the sample."""
    with database_factory.copy(sample) as url, serving(url, embedding_model="minilm") as server:
        yield server


@pytest.mark.parametrize("block", blocks_here("python"), ids=place)
def test_python_runs(block: Block, live: LiveServer, model: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{model.server_port}/v1")
    code = block.text.replace("http://127.0.0.1:8080", live.url).replace("reverie.…", live.key("demo"))
    compiled = compile(code, block.place, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    with live.client("demo") as memory:
        names: dict[str, Any] = {
            "key": live.key("demo"),
            "memory": memory,
            "name": "recall",
            "arguments": {"query": "Which dog does she have?"},
        }
        done = eval(compiled, names)
        if inspect.isawaitable(done):
            asyncio.run(_wait_for(done))


async def _wait_for(done: Any) -> None:
    await done


def _records(block: Block) -> list[dict[str, Any]]:
    try:
        return [json.loads(block.text)]
    except ValueError:
        return [json.loads(line) for line in block.text.splitlines()]


def _write_files(folder: Path) -> None:
    """What pages say that a user has: the policy and the questions of their own blocks, and data of a service."""
    (example,) = blocks_here("toml", page="docs/policies.md")
    (folder / "mine.toml").write_text(example.text, encoding="utf-8")
    (questions,) = blocks_here("json", page="docs/evaluating.md")
    (folder / "your.jsonl").write_text(questions.text, encoding="utf-8")
    views = {"views": {"this week": 315, "last week": 840}, "posts this week": 0}
    (folder / "analytics.json").write_text(json.dumps({"blog": views}))
    (folder / "database-url").write_text("")
