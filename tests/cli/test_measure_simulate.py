"""`reverie simulate` compares policies over the same short year."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Invoke


def test_two_policies_live_the_same_weeks(invoke: Invoke) -> None:
    args = ("simulate", "--policy", "brain", "--policy", "chat", "--people", "1", "--weeks", "1")
    results = json.loads(invoke(*args, "--json").stdout)
    assert [each["policy"] for each in results] == ["brain", "chat"]
    assert results[0]["turns"] == results[1]["turns"] > 10
    assert results[0]["summary"]["bytes_per_subject"] > 0 and len(results[0]["months"]) == 1


def test_help_and_documentation_say_that_json_is_a_list(invoke: Invoke) -> None:
    assert "Print a JSON list with one object per policy." in " ".join(invoke("simulate", "--help").stdout.split())
    page = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    assert "`simulate`: a list with one object per policy" in " ".join(page.split())


def test_a_tenant_keeps_the_year_of_one_policy(invoke: Invoke) -> None:
    refused = invoke("simulate", "--tenant", "year", "--policy", "brain", "--policy", "chat")
    assert refused.exit_code == 2 and "--tenant keeps the year of one policy" in refused.stderr
