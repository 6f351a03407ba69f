"""Runs the lines of a bash block: commands of ours in this process, the few others that pages need in bash."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from click.testing import CliRunner

from reverie.cli.root import reverie
from reverie.store.server.programs import programs
from tests.cli.test_examples import parse
from tests.docs.blocks import ROOT

#: Commands that do not end by themselves: their arguments are parsed.
ENDLESS = {"serve", "inspect", "mcp", "worker"}
#: How lines begin that need bash and the programs of Postgres.
POSTGRES = ("pg_dump ", "pg_restore ", "(eval ")
_ASSIGNMENT = re.compile(r"([A-Z][A-Z0-9_]*)=(.*)", re.DOTALL)
_SUBSTITUTION = re.compile(r"\$\((reverie .*)\)")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def lines_of(text: str) -> list[str]:
    """The commands of a block: without comments, with continued lines and quoted texts of several lines whole."""
    commands, begun = list[str](), ""
    for line in text.replace("\\\n", " ").splitlines():
        begun += line
        try:
            words = shlex.split(begun, comments=True)
        except ValueError:  # a quotation goes on
            begun += "\n"
            continue
        if words:
            commands.append(re.sub(r"(^|\s)#[^'\"]*$|(^|\s{2,})# .*$", "", begun).strip())
        begun = ""
    return commands


def calls_in(text: str) -> list[list[str]]:
    """The arguments of each line that begins with `reverie`, variables before it left out."""
    found = []
    for line in lines_of(text):
        words = shlex.split(line.removesuffix("&"))
        while words and _ASSIGNMENT.fullmatch(words[0]):
            words.pop(0)
        if words[:1] == ["reverie"]:
            found.append(words[1:])
    return found


@dataclass
class Shell:
    """A shell in a folder, with variables that lines can export."""

    folder: Path
    variables: dict[str, str]
    #: What stands for parts of lines that are examples only: the longest first.
    substitutes: dict[str, str] = field(default_factory=dict)
    #: What is typed when a command asks.
    typed: str = "y\n"
    #: Exit codes beside 0 that a page announces, by a part of the line.
    codes: dict[str, int] = field(default_factory=dict)

    def run(self, text: str) -> str:
        """Run all lines of a block; return what they print. Fails with the line and its output."""
        return "".join(self._run_line(line) for line in lines_of(text))

    def _run_line(self, line: str) -> str:
        for example, real in self.substitutes.items():
            line = line.replace(example, real)
        if line.startswith("export "):
            for assignment in re.split(r" (?=[A-Z][A-Z0-9_]*=)", line.removeprefix("export ")):
                self._assign(assignment, self.variables)
            return ""
        if line.startswith("pip install "):
            return require_package(shlex.split(line)[2:])
        if line.startswith("make "):
            return require_target(shlex.split(line)[1])
        if line.startswith(POSTGRES):
            return self._bash(line)
        words, given = shlex.split(self._expand(line.removesuffix("&"))), dict(self.variables)
        while words and (assignment := _ASSIGNMENT.fullmatch(words[0])):
            given[assignment[1]] = assignment[2]
            words.pop(0)
        assert words[:1] == ["reverie"], f"nothing here runs {line!r}: say why above the block"
        return self._reverie(line, words[1:], given)

    def _assign(self, assignment: str, variables: dict[str, str]) -> None:
        match = _ASSIGNMENT.fullmatch(assignment.strip())
        assert match, f"{assignment!r} is no assignment"
        if substitution := _SUBSTITUTION.fullmatch(match[2]):
            variables[match[1]] = self._run_line(substitution[1]).strip()
        else:
            variables[match[1]] = " ".join(shlex.split(self._expand(match[2])))

    def _expand(self, line: str) -> str:
        return _VARIABLE.sub(lambda match: self.variables[match[1] or match[2]], line)

    def _reverie(self, line: str, arguments: list[str], variables: dict[str, str]) -> str:
        if arguments[0] in ENDLESS and "--once" not in arguments and "--json" not in arguments:
            parse(arguments)
            return ""
        done = CliRunner(env=variables).invoke(reverie, arguments, input=self.typed)
        announced = {0, *(code for part, code in self.codes.items() if part in line)}
        assert done.exit_code in announced, f"{line}\n{done.output}\n{done.exception!r}"
        return done.stdout

    def _bash(self, line: str) -> str:
        path = os.pathsep.join((str(programs()), str(Path(sys.executable).parent), os.environ["PATH"]))
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", line],
            cwd=self.folder,
            env=self.variables | {"PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        return done.stdout


def require_package(names: list[str]) -> str:
    """Fail unless each name is a distribution of ours, with the extras that it names."""
    ours = {}
    for path in (ROOT / "pyproject.toml", *ROOT.glob("clients/*/pyproject.toml")):
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        ours[project["name"]] = set(project.get("optional-dependencies", ()))
    for name in names:
        package, _, extras = name.partition("[")
        assert package in ours and {each for each in extras.removesuffix("]").split(",") if each} <= ours[package], name
    return ""


def require_target(name: str) -> str:
    """Fail unless the Makefile has the target. Most install an environment; tests/doors runs them."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{re.escape(name)}:", makefile, re.MULTILINE), name
    return ""
