"""A headless Chromium over its DevTools protocol: opens a page, waits for it, and tells what its console said."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--window-size=1280,900",
    "--remote-debugging-port=0",
]


def chromium_or_skip() -> str:
    """The program Chromium; `.ci/run` installs it where it can."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("Chromium is not installed: pages are not opened (docs/testing.md)")
    return program


class Page:
    """One tab: what it shows, and the errors that its console got."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection, self._number = connection, 0
        self._session: str | None = None
        self.errors: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call the protocol; console errors that arrive meanwhile are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        self._connection.send(json.dumps(message | ({"sessionId": self._session} if self._session else {})))
        while True:
            answer = json.loads(self._connection.recv(timeout=60))
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self._keep(answer.get("method"), answer.get("params", {}))

    def _keep(self, event: str | None, parameters: dict[str, Any]) -> None:
        if event == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif event == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "assert"):
            self.errors.append(" ".join(str(each.get("value", each.get("description"))) for each in parameters["args"]))
        elif event == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")

    def open(self, address: str, shows: str, *, seconds: float = 60) -> str:
        """Open an address, wait until its text holds `shows`, and return the text."""
        self.call("Page.navigate", url=address)
        until, text = time.monotonic() + seconds, ""
        while shows not in text:
            assert time.monotonic() < until, f"no {shows!r}: {text[:2000]} {self.errors}"
            time.sleep(0.1)
            text = self.evaluate("document.body ? document.body.innerText : ''")
        return text

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def wait_until(self, expression: str, *, seconds: float = 30) -> None:
        """Wait until a JavaScript expression is true."""
        until = time.monotonic() + seconds
        while not self.evaluate(expression):
            assert time.monotonic() < until, f"never true: {expression} {self.errors}"
            time.sleep(0.1)


@contextmanager
def page(program: str, folder: Path) -> Iterator[Page]:
    """A tab of a new Chromium with an empty profile under `folder`."""
    printed = folder / "chromium.log"
    with printed.open("wb") as output:
        process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"],
            env=os.environ | {"HOME": str(folder)},
            stdout=output,
            stderr=output,
        )
    try:
        until = time.monotonic() + 60
        while (found := re.search(r"DevTools listening on (ws://\S+)", printed.read_text(errors="replace"))) is None:
            assert process.poll() is None and time.monotonic() < until, printed.read_text(errors="replace")[-2000:]
            time.sleep(0.1)
        with connect(found[1], max_size=None, proxy=None) as connection:
            yield Page(connection)
    finally:
        process.terminate()
        process.wait(20)
