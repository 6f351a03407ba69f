"""The wheel without extras: whatever is missing is one sentence with the command that installs it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from reverie.cli.root import EXTRAS
from reverie.installing import install_command

#: Runs the command line as if no extra were installed.
BARE = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {set(EXTRAS)!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name.partition(".")[0] in {set(EXTRAS)!r} else found(name, *rest)
from reverie.cli import main
sys.argv = ["reverie", *sys.argv[1:]]
main()
"""


def bare(home: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BARE, *command],
        env={name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
        | {"REVERIE_HOME": str(home)}
        | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("command", "extra", "code"),
    [
        (["serve"], "api", 3),
        (["migrate"], "embedded", 4),
        (["db", "start"], "embedded", 4),
        (["db", "status"], "embedded", 4),
        (["worker", "--once"], "embedded", 4),
    ],
)
def test_a_command_names_its_extra(tmp_path: Path, command: list[str], extra: str, code: int) -> None:
    done = bare(tmp_path, *command)
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith("Error: ") and len(done.stderr.splitlines()) == 1
    assert f": {install_command(extra)}." in done.stderr


def test_a_cluster_of_before_is_no_traceback(tmp_path: Path) -> None:
    """psutil was missed in 40 lines where a data directory existed."""
    (tmp_path / "postgres" / "data").mkdir(parents=True)
    (tmp_path / "postgres" / "data" / "postmaster.pid").write_text("1\n")
    for command in (["db", "stop"], ["db", "status"], ["migrate"]):
        done = bare(tmp_path, *command)
        assert done.returncode == 4 and len(done.stderr.splitlines()) == 1, done.stderr


def test_models_name_their_extra() -> None:
    from reverie.errors import InferenceError
    from reverie.inference.extras import load_extra

    with pytest.raises(InferenceError, match=re.escape(install_command("litellm"))):
        load_extra("litellm_that_is_missing", extra="litellm", needed_by="The model x")
