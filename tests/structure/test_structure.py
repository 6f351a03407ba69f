"""The house keeps its shape: floors, sizes, names, where SQL and the clock may stand."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "reverie"
#: What is ours, wherever it is loaded from.
SHIPPED = [ENGINE, *(ROOT / name for name in ("assets", "flows", "resources", "deployments"))]
LONGEST = 400
#: Queries that may ask the clock of the database: the ledger, for people, and the pace at which models are asked, which
#: all machines must count by one clock; how old the last commit of a replica is; and which runs ended since deliveries
#: last compared everything, as the ledger has the times of that clock.
CLOCKED = {"runs", "calls", "steps", "replica", "deliver"}
BANNED = {"utils", "util", "helpers", "helper", "common", "manager", "engine", "misc"}
#: Session settings, what is asked of a server before there are tables, and databases that are created and dropped.
SPEAK_SQL = {
    "reverie/store/connect.py",
    "reverie/store/session/pipeline.py",
    "reverie/store/server/embedded.py",
    "reverie/store/migrate.py",
    "reverie/store/alembic/env.py",
    "reverie/testing.py",
    "deployments/ui.py",
}

_OBJECT = r"(?:table|index|schema|role|database|extension|policy|view|function|temp\w*)\s"
_STATEMENT = re.compile(
    r"^\s*(?:select\s|insert\s+into\s|update\s+\S+\s+set\s|delete\s+from\s|with\s+\w+\s+as\s"
    rf"|(?:create|alter|drop)\s+{_OBJECT}|set\s+(?:role|local|session)\s)",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"\b(?:now|statement_timestamp|transaction_timestamp|timeofday)\s*\(|\bcurrent_(?:timestamp|date|time)\b", re.I
)


def sources(*folders: Path) -> list[Path]:
    """The Python files of folders."""
    return sorted(chain.from_iterable(folder.rglob("*.py") for folder in folders))


def queries() -> list[tuple[Path, str, str]]:
    """Every named query: its file, its name, and what follows the header."""
    found = []
    for path in sorted((ROOT / "sql" / "queries").glob("*.sql")):
        pieces = re.split(r"^-- name: (\w+)\s*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert not pieces[0].strip(), f"{path.name} begins with something unnamed"
        found += [(path, name, body) for name, body in zip(pieces[1::2], pieces[2::2], strict=True)]
    return found


def test_nothing_imports_upward() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command; lint_imports_command()",
            "--no-cache",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_module_is_long() -> None:
    folders = [*SHIPPED, ROOT / "tests", ROOT / "bench", ROOT / "tools"]
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sources(*folders)}
    assert {str(path): lines for path, lines in lengths.items() if lines > LONGEST} == {}


def test_a_name_says_what_is_inside() -> None:
    folders = [*SHIPPED, ROOT / "tests", ROOT / "bench", ROOT / "tools"]
    assert [path for path in sources(*folders) if path.stem in BANNED] == []
    assert [path for folder in folders for path in folder.rglob("*") if path.is_dir() and path.name in BANNED] == []


def test_dbt_is_no_package() -> None:
    assert list((ROOT / "dbt").rglob("__init__.py")) == []


def test_modules_say_what_they_are_for() -> None:
    bare = [path for path in sources(ENGINE) if path.name != "__main__.py" and not ast.get_docstring(parsed(path))]
    assert bare == []


def test_sql_stands_in_sql_files() -> None:
    spoken = {
        (path.relative_to(ROOT).as_posix(), text)
        for path in sources(*SHIPPED)
        for text in strings(path)
        if _STATEMENT.match(text)
    }
    assert {(name, text) for name, text in spoken if name not in SPEAK_SQL} == set()
    assert {name for name, _ in spoken} == SPEAK_SQL, "some of these speak no SQL any more"


def test_every_query_has_a_name_and_says_what_it_is_for() -> None:
    for path, name, body in queries():
        first, *rest = body.strip().splitlines()
        assert first.startswith("-- "), f"{path.name}: {name}"
        assert any(line and not line.startswith("--") for line in rest), f"{path.name}: {name} is empty"


def test_no_query_is_named_twice_or_unused() -> None:
    named = [(path.stem, name) for path, name, _ in queries()]
    assert len(set(named)) == len(named)
    code = {path: path.read_text(encoding="utf-8") for path in sources(ENGINE)}
    # the panels name the statements of `report` (tests/report/test_panels.py)
    for stem, name in (each for each in named if each[0] != "report"):
        users = [text for text in code.values() if re.search(rf"""queries\(\s*["']{stem}["']\s*\)""", text)]
        assert any(re.search(rf"""["']{name}["']""", text) for text in users), f"{stem}.{name} is used nowhere"


def test_every_query_that_is_used_exists() -> None:
    named = {(path.stem, name) for path, name, _ in queries()}
    for path in sources(ENGINE):
        for use in re.findall(r"""queries\("(\w+)"\)\["(\w+)"\]""", path.read_text(encoding="utf-8")):
            assert use in named, f"{path}: {use}"


def test_time_is_an_argument() -> None:
    """No stage and no query asks a clock, but for those of `CLOCKED`."""
    for path, name, body in queries():
        assert not _CLOCK.search(code_of(body)), f"{path.name}: {name}"
        assert path.stem in CLOCKED or "clock_timestamp" not in code_of(body), f"{path.name}: {name}"
    for path in sources(ENGINE / "consolidate", ENGINE / "cues", ENGINE / "recall"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                asked = (node.value.id, node.attr)
                assert asked not in {
                    ("datetime", "now"),
                    ("datetime", "utcnow"),
                    ("date", "today"),
                    ("time", "time"),
                }, path


def code_of(sql: str) -> str:
    """SQL without its comments."""
    return re.sub(r"--.*", "", sql)


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def strings(path: Path) -> Iterator[str]:
    """The string literals of a module but for docstrings and for what has a gap in it, which is advice to a person."""
    tree = parsed(path)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node not in docstrings
            and "..." not in node.value
        ):
            yield node.value
