"""Standard input and output of the MCP server: lines in, text out, and nothing else on the wire."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import reverie_client

ECHO = """
import asyncio, sys
from reverie_client.mcp.pipes import are_pipes, standard_pipes

async def main():
    assert are_pipes()
    async with standard_pipes() as (lines, out):
        print("stray", flush=True)
        assert not sys.stdin.read()
        async for line in lines:
            await out.write(line.upper())
            await out.flush()
    print("after", flush=True)

asyncio.run(main())
"""
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "PYTHONPATH": str(Path(reverie_client.__file__).parents[1]),
    "REVERIE_URL": "http://127.0.0.1:9",
    "REVERIE_API_KEY": "key",
    "REVERIE_SUBJECT": "ann",
}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
}


def test_lines_come_and_go_whole() -> None:
    long = b"x" * 200_000  # more than a pipe holds, and than asyncio reads as a line unless told
    given = b"\n".join([b"one", long, b"\xff", "déjà".encode()])  # the last one without an end
    done = subprocess.run([sys.executable, "-c", ECHO], input=given, capture_output=True, env=ENVIRONMENT, check=True)
    assert done.stdout == b"ONE\n" + long.upper() + "\n\N{REPLACEMENT CHARACTER}\nDÉJÀafter\n".encode()
    assert done.stderr == b"stray\n", "what else is printed does not meet the wire"


@pytest.mark.parametrize("is_file", [False, True], ids=["pipe", "file"])
def test_what_is_no_pipe_is_served_as_well(tmp_path: Path, is_file: bool) -> None:
    (tmp_path / "in").write_text(json.dumps(HELLO) + "\n")
    with open(tmp_path / "in", "rb") as given:
        source = {"stdin": given} if is_file else {"input": given.read()}
        done = subprocess.run(
            [sys.executable, "-m", "reverie_client.mcp"], stdout=subprocess.PIPE, env=ENVIRONMENT, check=True, **source
        )
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "reverie"
