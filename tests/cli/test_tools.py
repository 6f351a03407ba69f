"""`reverie tools` and `reverie mcp`: what is printed for an agent's configuration."""

from __future__ import annotations

import json

import pytest

from reverie_client.tools import AGENT_TOOLS, MCP_TOOLS, TOOLS
from tests.cli.conftest import Invoke


@pytest.mark.parametrize(
    ("shape", "field"), [("openai", "function"), ("anthropic", "input_schema"), ("mcp", "outputSchema")]
)
def test_definitions_are_printed_in_a_shape(invoke: Invoke, shape: str, field: str) -> None:
    printed = json.loads(invoke("tools", "--for", shape).stdout)
    assert [each.get("function", each)["name"] for each in printed] == list(AGENT_TOOLS)
    assert all(field in each for each in printed)


def test_all_tools_are_listed_by_name(invoke: Invoke) -> None:
    assert json.loads(invoke("tools", "--names", "--all", "--json").stdout) == list(TOOLS)
    assert "recall" in invoke("tools", "--names").stdout.split()


def test_a_tool_may_name_its_subject(invoke: Invoke) -> None:
    printed = json.loads(invoke("tools", "--for", "mcp", "--all", "--with-subject").stdout)
    assert {each["name"] for each in printed} >= set(MCP_TOOLS)
    assert all("subject_id" in each["inputSchema"]["required"] for each in printed)
