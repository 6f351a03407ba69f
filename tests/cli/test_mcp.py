"""`reverie mcp`: the entry of a configuration, and what is said without a key. Messages are in tests/clients."""

from __future__ import annotations

import json
import sys

from tests.cli.conftest import Invoke


def test_it_prints_the_entry_of_a_configuration(invoke: Invoke) -> None:
    entry = json.loads(invoke("mcp", "--subject", "ana", "--json").stdout)["mcpServers"]["reverie"]
    assert (entry["command"], entry["env"]["REVERIE_SUBJECT"]) == (sys.executable, "ana")
    assert "REVERIE_SESSION" not in entry["env"]
    entry = json.loads(invoke("mcp", "--session", "s1", "--json").stdout)["mcpServers"]["reverie"]
    assert entry["env"]["REVERIE_SESSION"] == "s1"


def test_a_missing_key_is_one_sentence(invoke: Invoke) -> None:
    result = invoke("mcp", env={"REVERIE_API_KEY": ""})
    assert (result.exit_code, result.stderr.count("\n")) == (3, 1)
    assert "reverie keys add" in result.stderr
