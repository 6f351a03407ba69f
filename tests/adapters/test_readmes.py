"""The code of the adapters' READMEs, against a server; a scripted server stands for OpenAI's."""

from __future__ import annotations

import ast
import asyncio
import gc
import importlib
import inspect
from typing import Any

import pytest

from tests.adapters.conftest import Server
from tests.clients.test_sessions import Scripted, model
from tests.docs.blocks import Block, blocks

__all__ = ["model"]  # a fixture

#: Of each README, the package that its code needs.
PACKAGES = {
    "clients/langgraph/README.md": "reverie_langgraph",
    "clients/openai-agents/README.md": "reverie_openai_agents",
    "clients/pydantic-ai/README.md": "reverie_pydantic_ai",
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "block",
    [each for each in blocks() if each.page in PACKAGES and each.language == "python"],
    ids=lambda block: block.page,
)
def test_the_readme_runs(block: Block, server: Server, model: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(PACKAGES[block.page], reason="needs the framework: make test-adapters")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{model.server_port}/v1")
    if block.page == "clients/openai-agents/README.md":
        agents: Any = importlib.import_module("agents")
        agents.set_tracing_disabled(True)
        agents.set_default_openai_api("chat_completions")
    code = block.text.replace("http://127.0.0.1:8080", server.url).replace("reverie.…", server.key)
    names: dict[str, Any] = {}
    done = eval(compile(code, block.page, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    if inspect.iscoroutine(done):
        asyncio.run(done)
        assert model.seen, "the model was asked"
    names.clear()
    gc.collect()  # while what a README leaves open may say so
