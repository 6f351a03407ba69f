"""What the README says to do can be done: its marked commands run, and its Python runs on what they made."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"<!-- test -->\n```bash\n(.*?)```", README, re.DOTALL)
CODE = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.skipif(not COMMANDS, reason="the README marks no commands with <!-- test -->")
def test_the_examples_run(empty_database_url: str) -> None:
    environment = os.environ | {
        "DATABASE_URL": empty_database_url,
        "REVERIE_THREADS": "1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    for script in (
        *COMMANDS,
        *(f"cat <<'END' | python -\n{in_database(code, empty_database_url)}END" for code in CODE),
    ):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        assert done.stdout.strip(), script


def in_database(code: str, url: str) -> str:
    """The code with a real address for the one left out."""
    return re.sub(r"postgresql://…", url, code)


def test_what_it_links_to_exists() -> None:
    missing = [link for link in re.findall(r"\]\(([^)#:]+)\)", README) if not (ROOT / link).exists()]
    assert missing == []
