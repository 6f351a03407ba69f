"""`reverie inspect` prints an address and a key that opens it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import httpx

from tests.doors.conftest import clean_environment
from tests.inspector.conftest import token_of


def test_the_printed_key_opens_every_tenant(database_url: str, tmp_path: Path) -> None:
    printed = tmp_path / "printed"
    environment = clean_environment(DATABASE_URL=database_url, REVERIE_EMBEDDING_MODEL="none")
    with printed.open("wb") as output:
        program = [sys.executable, "-m", "reverie", "inspect", "--port", "0", "--json"]
        process = subprocess.Popen(program, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        until = time.monotonic() + 60
        while not printed.read_text().strip().endswith("}"):
            assert process.poll() is None and time.monotonic() < until, printed.read_text()
            time.sleep(0.1)
        told = json.loads(printed.read_text())
        assert told["inspector"].startswith("http://127.0.0.1:")
        with httpx.Client(base_url=told["inspector"], follow_redirects=True) as client:
            token = token_of(client.get("sign-in").text)
            page = client.post("sign-in", data={"key": told["key"], "token": token})
            assert "There are no tenants yet" in page.text
    finally:
        process.terminate()
        process.wait(30)
