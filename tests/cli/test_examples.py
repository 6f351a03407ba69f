"""The examples of every --help are what the command takes, and what jq is asked for is in the JSON."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from reverie.cli.root import reverie

#: A call of ours within a line, up to what the shell does with it.
_CALL = re.compile(r'(?:^|[ (])(reverie (?:"[^"]*"|\'[^\']*\'|[^|>"\')])*)')
_PATH = re.compile(r"jq '((?:\.\w+)+)(\[\])?")


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, group
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


def examples() -> list[str]:
    """The lines below `Example:` or after a \\b in which `reverie` is called."""
    found: dict[str, None] = {}
    for _, command in commands(reverie):
        for block in (command.help or "").split("\n\n"):
            if block.lstrip().startswith("\b"):
                found |= dict.fromkeys(line.strip() for line in block.splitlines() if "reverie " in line)
    return list(found)


def calls(line: str) -> list[list[str]]:
    """The arguments of each call of `reverie` in a line; what stands behind two spaces is a comment."""
    return [shlex.split(re.split(r" {2,}", call)[0])[1:] for call in _CALL.findall(line)]


def parse(arguments: list[str]) -> None:
    """Parse as click does before it runs the command; raises what a user would see."""
    command: click.Command = reverie
    context = reverie.make_context("reverie", list(arguments))
    while isinstance(command, click.Group) and (rest := [*context._protected_args, *context.args]):
        name, command, left = command.resolve_command(context, rest)
        assert command is not None
        context = command.make_context(name or "", left, parent=context)


def test_there_are_examples_to_parse() -> None:
    lines = examples()
    assert len(lines) > 60
    assert all(calls(line) for line in lines), [line for line in lines if not calls(line)]
    assert calls('psql "$(reverie db url)" -c "select 1"') == [["db", "url"]]
    assert calls("reverie show ana --json | jq '.a'") == [["show", "ana", "--json"]]
    for wrong in (["show", "ana", "--jsn"], ["shwo"], ["show"], ["run", "--stage", "mrege"]):
        with pytest.raises(click.UsageError):
            parse(wrong)


@pytest.mark.parametrize("line", examples())
def test_an_example_parses(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in calls(line):
        for name in re.findall(r"[\w-]+\.json\b", " ".join(arguments)):  # read while options are parsed
            Path(name).write_text("{}")
        parse(arguments)


@pytest.mark.parametrize("line", [line for line in examples() if "jq " in line])
def test_what_jq_is_asked_for_is_there(invoke, world, line: str) -> None:
    (arguments,) = calls(line)
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    path = _PATH.search(line)
    assert path is not None
    value = json.loads(result.stdout)
    for name in path[1].split(".")[1:]:
        value = value[name]
    assert isinstance(value, list) is bool(path[2])
    for name in re.findall(r"(?<=[( |])\.(\w+)", line[path.end() :]):
        assert name in value[0]
