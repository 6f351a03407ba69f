"""The quick start is true: its commands run one after the other, and its Python on what they made."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"<!-- test -->\n```bash\n(.*?)```", PAGE, re.DOTALL)
(CODE,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_every_command_of_the_page_is_tried() -> None:
    assert len(COMMANDS) == PAGE.count("```bash") == 5


def test_the_demo_installs_what_the_page_imports() -> None:
    """README's first command is `make demo`; the page that it leads to is tried in that environment."""
    assert "from reverie_client import" in CODE
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^\$\(DEMO\):.*\n(?:\t.*\n)+", makefile, re.MULTILINE)
    assert "-e clients/python" in recipe


def test_the_page_runs_from_start_to_end(empty_database_url: str, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # the checkout's own package, whichever is installed
    (tmp_path / "reverie").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m reverie "$@"\n', encoding="utf-8")
    (tmp_path / "reverie").chmod(0o755)
    python = f"cat <<'END' | \"{sys.executable}\" -\n{CODE}END\n"
    page = [part.replace("8080", str(port)) for part in (*COMMANDS, python)]
    marked = "\n".join(f"echo; echo '=== {number}'\n{part}" for number, part in enumerate(page))
    script = f"set -euo pipefail\ntrap 'kill $(jobs -p)' EXIT\n{marked}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=ROOT,
        env=os.environ
        | {
            "DATABASE_URL": empty_database_url,
            "REVERIE_THREADS": "1",
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    _, started, told, held, sunk, asked, python_said = re.split(r"\n=== \d\n", done.stdout)
    assert '"status":"ready"' in started
    assert '"content":"Always answer in short sentences"' in told
    assert "I am allergic to peanuts" in held
    assert '"waiting":3' in sunk
    assert "peanuts" in asked and "answer in short sentences" in asked and "You are a kind companion." in asked
    assert "mood=" in python_said and "pet:bruno" in python_said
    assert "off to the park" in python_said and "peanuts" in python_said
