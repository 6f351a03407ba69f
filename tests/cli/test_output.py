"""Output of commands for programs."""

from __future__ import annotations

import json


def test_json_is_one_object_and_nothing_else(invoke, world) -> None:
    for command in (["show", "ana"], ["explain", str(world["loves"])], ["runs"], ["digest"], ["dead-letters", "list"]):
        result = invoke(*command, "--json")
        assert isinstance(json.loads(result.stdout), dict)
        assert result.stderr == ""
    assert "2026-03-01T09:00:00+00:00" in invoke("show", "ana", "--json").stdout
