"""Recall by an agent: over MCP by HTTP and by stdio, beside the plain HTTP client, in the same run.

    python bench/agents.py [--memories 20000] [--calls 400] [--work DIRECTORY] [--keep]

One process asks one server, one question at a time, through the interfaces in turn, so that other load on the machine
affects all of them alike. Each interface is used as its users do: `reverie_client.AsyncClient`, the SDK's own client
over streamable HTTP, and the SDK's client through `python -m reverie_client.mcp`. All of them validate the answer. Then
a hook recalls, in a new process for each prompt.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from bench.api_server import loading, running, vocabulary
from bench.report import machine, print_table
from reverie_client import AsyncClient
from reverie_client.environment import Environment
from reverie_client.hooks.install import install

SUBJECT = "s00000"
TOP_K = 8
#: Questions asked before measuring.
WARM = 30
#: The longest time for a recall over MCP, as a multiple of the plain client's.
MOST = 1.3
COLD_CALLS = 30
CLIENT = Path(__file__).resolve().parents[1] / "clients" / "python"

Door = Callable[[str], Awaitable[Any]]


async def measure(url: str, key: str, calls: int) -> dict[str, list[float]]:
    """Return the seconds of each call, by interface."""
    words, chance = vocabulary(), random.Random(7)
    times: dict[str, list[float]] = defaultdict(list)
    async with AsyncExitStack() as open_doors:
        doors = await connect(open_doors, url, key)
        names = list(doors)
        for number in range(WARM + calls):
            question = " ".join(chance.choices(words[:2000], k=5))
            chance.shuffle(names)
            for name in names:
                began = time.perf_counter()
                await doors[name](question)
                if number >= WARM:
                    times[name].append(time.perf_counter() - began)
    return times


async def connect(open_doors: AsyncExitStack, url: str, key: str) -> dict[str, Door]:
    """Open the interfaces."""
    plain = await open_doors.enter_async_context(AsyncClient(url, key))
    http = await open_doors.enter_async_context(httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}))
    transport = streamable_http_client(f"{url}/mcp?subject={SUBJECT}", http_client=http)
    over_http = await open_doors.enter_async_context(Client(transport))
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(CLIENT),
        "REVERIE_URL": url,
        "REVERIE_API_KEY": key,
        "REVERIE_SUBJECT": SUBJECT,
    }
    server = StdioServerParameters(command=sys.executable, args=["-m", "reverie_client.mcp"], env=environment)
    over_stdio = await open_doors.enter_async_context(Client(stdio_client(server)))

    def asks(client: Client) -> Door:
        async def ask(question: str) -> Any:
            answer = await client.call_tool("recall", {"question": question, "top_k": TOP_K})
            assert not answer.is_error, answer.content
            return answer.structured_content

        return ask

    async def ask_plainly(question: str) -> Any:
        return await plain.recall(SUBJECT, question, top_k=TOP_K)

    return {"HTTP": ask_plainly, "MCP, HTTP": asks(over_http), "MCP, stdio": asks(over_stdio)}


def cold_hooks(url: str, key: str) -> tuple[list[float], int]:
    """Return the seconds of each recall by a hook, including its process, and the number of hooks that timed out."""
    seconds, silent = [], 0
    with tempfile.TemporaryDirectory() as folder:
        environment = Environment(url=url, key=key, subject_id=SUBJECT, session_id=None)
        file = install("claude-code", environment, home=Path(folder))
        command = json.loads(file.read_text())["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]
        for number in range(COLD_CALLS):
            event = json.dumps({"session_id": "bench", "prompt": f"Who said {vocabulary()[number]}?"})
            began = time.perf_counter()
            done = subprocess.run(command, shell=True, input=event, capture_output=True, text=True, check=True)
            seconds.append(time.perf_counter() - began)
            silent += not done.stdout
    return seconds, silent


def at(share: float, seconds: list[float]) -> float:
    """Return a quantile of times, in milliseconds."""
    return 1000 * sorted(seconds)[min(len(seconds) - 1, int(share * len(seconds)))]


def main() -> None:
    parser = loading(__doc__)
    parser.set_defaults(memories=20_000)
    parser.add_argument("--calls", type=int, default=400)
    options = parser.parse_args()
    with running(options) as server:
        url = f"http://127.0.0.1:{server.port}"
        times = asyncio.run(measure(url, server.key, options.calls))
        hooks, silent = cold_hooks(url, server.key)
    plain = times["HTTP"]
    rows = [
        [name, f"{at(0.5, each):.1f}", f"{at(0.95, each):.1f}", f"{at(0.5, each) / at(0.5, plain):.2f}",
         f"{at(0.95, each) / at(0.95, plain):.2f}"]
        for name, each in times.items()
    ]  # fmt: skip
    print(machine())
    title = f"Recall by an agent, ms, {options.calls} calls each; a p95 of at most {MOST} of plain HTTP is wanted"
    print_table(title, ["door", "p50", "p95", "p50 / HTTP", "p95 / HTTP"], sorted(rows))
    title = f"A hook before a prompt, ms, {COLD_CALLS} cold processes; a p95 of at most 300 is wanted"
    row = [f"{at(0.5, hooks):.0f}", f"{at(0.95, hooks):.0f}", silent]
    print_table(title, ["p50", "p95", "without memory, after .25 s"], [row])


if __name__ == "__main__":
    main()
