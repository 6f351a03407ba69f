"""`reverie simulate` compares policies over the same short year."""

from __future__ import annotations

import json

from tests.cli.conftest import Invoke


def test_two_policies_live_the_same_weeks(invoke: Invoke) -> None:
    args = ("simulate", "--policy", "brain", "--policy", "chat", "--people", "1", "--weeks", "1")
    results = json.loads(invoke(*args, "--json").stdout)
    assert [each["policy"] for each in results] == ["brain", "chat"]
    assert results[0]["turns"] == results[1]["turns"] > 10
    assert results[0]["summary"]["bytes_per_subject"] > 0 and len(results[0]["months"]) == 1


def test_a_tenant_keeps_the_year_of_one_policy(invoke: Invoke) -> None:
    refused = invoke("simulate", "--tenant", "year", "--policy", "brain", "--policy", "chat")
    assert refused.exit_code == 2 and "--tenant keeps the year of one policy" in refused.stderr
