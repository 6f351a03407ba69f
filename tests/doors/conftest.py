"""The doors: what README and docs tell a user to start, started by the same command and asked from outside."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from reverie.store.server.programs import free_port

ROOT = Path(__file__).resolve().parents[2]
#: Variables of this process that would change what a command does.
OURS = ("REVERIE_", "DAGSTER_", "PREFECT_", "DBT_", "PG", "PYTEST_", "DATABASE_URL", "MAKE", "MFLAGS")


@dataclass(frozen=True, kw_only=True)
class Door:
    """A command that runs: its port, and the file that holds what it prints."""

    process: subprocess.Popen[bytes]
    port: int
    printed: Path

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def text(self) -> str:
        """Everything printed so far."""
        return self.printed.read_text(errors="replace")

    def wait_for(self, line: str, *, seconds: float = 300) -> None:
        """Wait until the command has printed `line`, on a busy machine too; fail with what it printed otherwise."""
        until = time.monotonic() + seconds
        while line not in self.text():
            assert self.process.poll() is None, f"it ended with {self.process.returncode}:\n{self.text()[-3000:]}"
            assert time.monotonic() < until, f"no {line!r} within {seconds} seconds:\n{self.text()[-3000:]}"
            time.sleep(0.1)


Open = Callable[..., AbstractContextManager[Door]]


def clean_environment(**variables: str) -> dict[str, str]:
    """The environment of a new user's shell, and `variables`; programs of this Python come first."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return kept | {"PATH": path, "DO_NOT_TRACK": "1", "REVERIE_THREADS": "1"} | variables


def make_or_skip() -> str:
    """The program make, which the commands of README need."""
    if (program := shutil.which("make")) is None:
        pytest.skip("make is not installed")
    return program


@contextmanager
def opened(
    command: list[str], printed: Path, *, stop_by: signal.Signals = signal.SIGINT, **variables: str
) -> Iterator[Door]:
    """Run `command` until the block ends, with a free port in PORT and PREFECT_PORT; then interrupt and stop it."""
    port = free_port()
    with printed.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=clean_environment(**{"PORT": str(port), "PREFECT_PORT": str(port)} | variables),
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield Door(process=process, port=port, printed=printed)
        finally:
            if process.poll() is None:
                started = psutil.Process(process.pid).children(recursive=True)
                os.killpg(process.pid, stop_by)
                try:
                    process.wait(120)
                    _, left = psutil.wait_procs(started, timeout=30)
                finally:
                    for each in (process, *started):
                        with suppress(psutil.NoSuchProcess):
                            each.kill()
                assert not left, f"still running after {stop_by.name}: {left}"


def run(command: list[str], *, cwd: Path = ROOT, seconds: float = 240, **variables: str) -> str:
    """Run a command to its end; return what it printed, or fail with it."""
    done = subprocess.run(
        command,
        env=clean_environment(**variables),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=seconds,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout
