"""The stages stand once, and what the list says of each is true."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from reverie.consolidate.stages import BY_NAME, NAMES, STAGES, Stage
from reverie.store.queries import sql_directory

ROOT = Path(__file__).resolve().parents[2]
#: Statements of the writers that stages share, by the module that has them.
SHARED = {"memories": "write_", "forgetting": "forget", "marks": "MARK"}
_WRITES = re.compile(r"\b(?:insert into|update|delete from|merge into) ((?:log|memory|ops)\.\w+)")


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_a_stage_is_a_function_of_work_alone(stage: Stage) -> None:
    function = getattr(import_module(f"reverie.consolidate.{stage.name}.stage"), stage.name)
    first, *others = inspect.signature(function).parameters.values()
    assert (first.name, first.annotation) == ("work", "Work")
    assert all(other.default is not inspect.Parameter.empty for other in others)
    assert inspect.signature(function).return_annotation == "Report"


def test_every_package_of_a_stage_is_listed() -> None:
    packages = {path.parent.name for path in (ROOT / "reverie" / "consolidate").glob("*/__init__.py")}
    assert packages == set(BY_NAME)
    assert set(NAMES) == packages - {"correct"}


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_what_a_stage_writes_is_said(stage: Stage) -> None:
    assert set(own_writes(stage)) <= set(stage.writes), "its own statements write elsewhere"
    assert set(stage.writes) <= {*own_writes(stage), *shared_writes(stage)}, "it writes no such table"


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_what_a_stage_reads_exists(stage: Stage) -> None:
    tables = (sql_directory() / "schema.txt").read_text("utf-8")
    for table in (*stage.reads, *stage.writes):
        assert table in tables


def test_only_those_that_embed_need_an_embedder() -> None:
    for stage in STAGES:
        source = "".join(path.read_text("utf-8") for path in package(stage).glob("*.py"))
        assert ("work.embedder" in source) == stage.embeds, stage.name
        assert ("work.language_model" in source) == stage.asks, stage.name


def own_writes(stage: Stage) -> Iterator[str]:
    """Tables that the stage's own statements write."""
    yield from _WRITES.findall((sql_directory() / "queries" / f"{stage.name}.sql").read_text("utf-8"))


def shared_writes(stage: Stage) -> Iterator[str]:
    """Tables that the shared writers write which the stage calls."""
    source = "".join(path.read_text("utf-8") for path in package(stage).glob("*.py"))
    for stem, sign in SHARED.items():
        if sign in source:
            yield from _WRITES.findall((sql_directory() / "queries" / f"{stem}.sql").read_text("utf-8"))


def package(stage: Stage) -> Path:
    """Where a stage's code is."""
    return ROOT / "reverie" / "consolidate" / stage.name
