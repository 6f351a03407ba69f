"""The manners of the command line: help, errors, exit codes, pipes."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

import reverie as package
from reverie.cli.root import SECTIONS, reverie
from reverie.errors import DatabaseError, PolicyError

COMMANDS = [name for names in SECTIONS.values() for name in names]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A real process, whose stdout is no terminal."""
    return subprocess.run(
        [sys.executable, "-m", "reverie", *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_help_lists_every_command_under_its_heading() -> None:
    result = run("--help")
    assert result.returncode == 0
    for heading, names in SECTIONS.items():
        assert f"{heading}:" in result.stdout
        assert all(f"\n  {name}" in result.stdout for name in names)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_examples(name: str) -> None:
    result = CliRunner().invoke(reverie, [name, "--help"])
    assert result.exit_code == 0
    assert "Example" in result.output
    assert f"reverie {name}" in result.output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_speaks_json(name: str) -> None:
    command = reverie.get_command(None, name)  # type: ignore[arg-type]
    ways = getattr(command, "commands", None) or {name: command}
    assert all("--json" in (option for each in way.params for option in each.opts) for way in ways.values())


def test_version() -> None:
    assert re.fullmatch(rf"reverie {re.escape(package.__version__)}( \([0-9a-f]{{12}}\))?\n", run("--version").stdout)


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys, click.testing, reverie.cli.root as r; click.testing.CliRunner().invoke(r.reverie, ['--help']); "
        "print(*sorted({'rich', 'pydantic', 'psycopg', 'numpy', 'polars', 'alembic', 'orjson'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["bogus"],
        ["--bogus"],
        ["show"],
        ["show", "ana", "--bogus"],
        ["show", "ana", "--as-of", "yesterday"],
        ["run", "--shards", "5-2"],
        ["run", "--shards", "0-1024"],
        ["run", "--stage", "dream"],
        ["run", "--tenant", "a", "--all-tenants"],
        ["recall", "breakfast?"],
        ["recall", "breakfast?", "--subject", "ana", "--kinds", "turnip"],
        ["import", "x.jsonl", "--map", "user"],
    ],
)
def test_a_wrong_use_is_2_and_one_sentence(arguments: list[str]) -> None:
    result = CliRunner(env={"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}).invoke(reverie, arguments)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith("Error: ")
    assert "Traceback" not in result.output


def test_a_database_that_does_not_answer() -> None:
    result = run("digest", DATABASE_URL="postgresql://nobody:secret@127.0.0.1:1/none")
    assert result.returncode == DatabaseError.exit_code
    assert result.stderr == "Error: No Postgres answers at 127.0.0.1:1.\n"
    assert result.stdout == ""


def test_a_variable_that_cannot_be_used() -> None:
    result = run("digest", REVERIE_THREADS="many", DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
    assert result.returncode == 3
    assert result.stderr.startswith("Error: REVERIE_THREADS")


def test_a_policy_that_is_not_there() -> None:
    result = run("policy", "check", "nowhere.toml")
    assert result.returncode == PolicyError.exit_code
    assert result.stderr.startswith("Error: There is no policy")
    assert "Traceback" not in result.stderr


def test_a_reader_that_leaves_early() -> None:
    ways = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-m", "reverie", "policy", "--help"], **ways) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) != 0


def test_interrupting_is_130(invoke, conn, monkeypatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    conn.execute("insert into ops.tenants (tenant_id, policy) values ('acme', 'reverie')")
    monkeypatch.setattr("reverie.store.digest.digest", interrupted)
    result = invoke("digest")
    assert result.exit_code == 130
    assert result.stderr.startswith("Error: Interrupted.")


def test_a_lost_database_is_a_sentence(invoke, conn) -> None:
    conn.execute("insert into ops.tenants (tenant_id, policy) values ('acme', 'reverie')")
    conn.execute("drop schema memory cascade")
    result = invoke("digest")
    assert result.exit_code == DatabaseError.exit_code
    assert "reverie migrate" in result.stderr
