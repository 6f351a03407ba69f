"""Tests of the frameworks' own repositories, from the source distributions that `make test-adapters` unpacks."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

#: The folder of the unpacked source distributions; empty: there are none.
SOURCES = os.environ.get("REVERIE_TEST_SOURCES", "")


@contextmanager
def _standing_in(folder: Path) -> Iterator[None]:
    """Their package `tests` stands in the place of ours."""
    ours = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "tests"}
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
            del sys.modules[name]
        sys.modules.update(ours)


def their_tests(distribution: str, name: str) -> ModuleType:
    """A module of the tests of a source distribution."""
    (folder,) = filter(Path.is_dir, Path(SOURCES).glob(f"{distribution}-[0-9]*"))
    with _standing_in(folder):
        return importlib.import_module(f"tests.{name}")


def cases(module: ModuleType, left_out: Mapping[str, str]) -> list[Any]:
    """Each test of a module, with each of its parameters, but those whose names begin as `left_out` says."""
    found = []
    for name, function in vars(module).items():
        if not name.startswith("test_") or name.startswith(tuple(left_out)):
            continue
        marks = [mark for mark in getattr(function, "pytestmark", ()) if mark.name == "parametrize"]
        for number, values in enumerate(product(*(mark.args[1] for mark in marks))):
            given: dict[str, Any] = {}
            for mark, value in zip(marks, values, strict=True):
                names = [each.strip() for each in mark.args[0].split(",")]
                given |= dict(zip(names, value if len(names) > 1 else [value], strict=True))
            found.append(pytest.param(function, given, id=f"{name}-{number}" if marks else name))
    return found


def unknown(module: ModuleType, left_out: Mapping[str, str]) -> list[str]:
    """What is left out though no test of the module is called so."""
    names = [name for name in vars(module) if name.startswith("test_")]
    return [start for start in left_out if not any(name.startswith(start) for name in names)]
