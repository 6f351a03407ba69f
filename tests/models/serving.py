"""The scripted server from outside: a process, its script, its manner, and what it was asked."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SERVER = Path(__file__).with_name("scripted_server.py")


@dataclass(frozen=True)
class Server:
    """The process, from outside."""

    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def script(self, *answers: dict[str, Any]) -> None:
        """Say what to answer to the next requests; after them it answers well."""
        self._call("/script", json.dumps(answers).encode())

    def manner(self, **manner: Any) -> None:
        """Say how to answer from now on (see `scripted_server.py`); forgets script and requests."""
        self.script()
        self._call("/manner", json.dumps(manner).encode())

    @property
    def requests(self) -> list[dict[str, Any]]:
        """What was asked since the last script."""
        return self._call("/requests")  # type: ignore[no-any-return]

    @property
    def dripping(self) -> int:
        """Replies that are being sent byte by byte, to clients that still listen."""
        return int(self._call("/dripping"))

    def _call(self, path: str, body: bytes | None = None) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", body, timeout=10) as reply:
            return json.load(reply)


@contextmanager
def serving() -> Iterator[Server]:
    """Start a server; it ends with the context."""
    command = [sys.executable, str(SERVER)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        yield Server(int(process.stdout.readline()))
        process.stdin.close()
        process.wait(timeout=10)
