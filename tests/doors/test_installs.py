"""Every wheel of `make dist` in a fresh environment, for each Python that is here (`make test-installs`).

The engine is installed at the locked versions, each extra by itself; the client and the adapters at the latest
versions that they allow.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.conftest import ROOT
from tests.doors.test_extras import WORKS as EXTRAS

#: The folder of the wheels.
PACKAGES = os.environ.get("REVERIE_TEST_PACKAGES", "")
pytestmark = pytest.mark.skipif(not PACKAGES, reason="needs the wheels: make test-installs")
VERSIONS = ("3.11", "3.12", "3.13")
#: What a user does with each distribution, by its name and extra.
WORKS = {"reverie": "from reverie.model import Role"} | {f"reverie[{name}]": code for name, code in EXTRAS.items()}
WORKS |= {
    "reverie-client": "from reverie_client import AsyncClient, Client; import reverie_client.hooks.install",
    "reverie-client[mcp]": "from reverie_client.mcp.server import *",
    "reverie-client[playbooks]": "from reverie_client.playbooks import fill_playbook",
}
for each in sorted((ROOT / "clients").glob("*/pyproject.toml")):
    project = tomllib.loads(each.read_text(encoding="utf-8"))["project"]["name"]
    WORKS.setdefault(project, f"from {project.replace('-', '_')} import *")


def python_of(version: str) -> str | None:
    """A working interpreter: on the path, or of pyenv."""
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    programs = [shutil.which(f"python{version}"), *sorted(map(str, home.glob(f"versions/{version}.*/bin/python")))]
    for program in filter(None, programs):
        works = subprocess.run([program, "-c", "import ssl, venv"], capture_output=True, check=False)
        if works.returncode == 0:
            return program
    return None


@pytest.fixture(scope="module", params=VERSIONS)
def python(request: pytest.FixtureRequest) -> str:
    """The interpreter of a version."""
    if (found := python_of(request.param)) is None:
        pytest.skip(f"Python {request.param} is not here")
    return found


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """Where the environment is made."""
    yield tmp_path / "venv"
    shutil.rmtree(tmp_path / "venv", ignore_errors=True)


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    given = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=cwd, env=given, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, (command, done.stdout, done.stderr)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("wanted", WORKS)
def test_a_wheel_is_installed_and_works(wanted: str, python: str, home: Path, tmp_path: Path) -> None:
    name, _, extra = wanted.removesuffix("]").partition("[")
    (wheel,) = Path(PACKAGES).glob(f"{name.replace('-', '_')}-*.whl")
    (client,) = Path(PACKAGES).glob("reverie_client-*.whl")
    uv = Path(sys.executable).with_name("uv")
    run(uv, "venv", "--quiet", "--python", python, home)
    inside = home / "bin" / "python"
    lock = ["-c", "requirements.lock"] if name == "reverie" else []
    # no index is asked for what lies beside the wheel
    beside = [] if name in ("reverie", "reverie-client") else [f"reverie-client @ {client.as_uri()}"]
    requirement = f"{name}[{extra}] @ {wheel.as_uri()}" if extra else f"{name} @ {wheel.as_uri()}"
    run(uv, "pip", "install", "--quiet", "--python", inside, *lock, *beside, requirement)
    run(uv, "pip", "check", "--python", inside)
    run(inside, "-W", "ignore", "-c", WORKS[wanted], cwd=tmp_path)
    if name == "reverie":
        run(home / "bin" / "reverie", "--version", cwd=tmp_path)
