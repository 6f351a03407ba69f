"""Output of commands for programs."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest

from reverie.cli.output import print_json


class Figure(NamedTuple):
    week: int
    memories: float


def test_named_tuples_are_objects(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    print_json({"weeks": [Figure(1, 10.0)], "days": (1, 2)})
    assert json.loads(capsysbinary.readouterr().out) == {"weeks": [{"week": 1, "memories": 10.0}], "days": [1, 2]}


def test_json_is_one_object_and_nothing_else(invoke, world) -> None:
    for command in (["show", "ana"], ["explain", str(world["loves"])], ["runs"], ["digest"], ["dead-letters", "list"]):
        result = invoke(*command, "--json")
        assert isinstance(json.loads(result.stdout), dict)
        assert result.stderr == ""
    assert "2026-03-01T09:00:00+00:00" in invoke("show", "ana", "--json").stdout
