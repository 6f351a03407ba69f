"""The Dockerfiles: every file that they copy is there, nobody is root, and the API's image has no orchestrator."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.deployments.conftest import DEPLOYMENTS

ROOT = DEPLOYMENTS.parent
IMAGES = sorted((DEPLOYMENTS / "images").glob("*.Dockerfile"))
ORCHESTRATORS = ("dagster", "prefect")


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.stem)
def test_an_image_is_built_of_what_is_there_and_runs_as_nobody(path: object) -> None:
    text = path.read_text()  # type: ignore[attr-defined]
    ignored = (ROOT / ".dockerignore").read_text().split()
    copied = [part for line in re.findall(r"^COPY (?!--from)(.+)$", text, re.MULTILINE) for part in line.split()[:-1]]
    assert copied
    for each in copied:
        assert (ROOT / each).exists() and each.partition("/")[0] not in ignored, each
    _, final = re.split(r"^FROM [^\n]+\n(?=RUN useradd)", text, maxsplit=1, flags=re.MULTILINE)
    assert re.search(r"^USER 10001$", final, re.MULTILINE)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (default,) = re.findall(r"^ARG EXTRAS=(\S+)$", text, re.MULTILINE)
    assert set(default.split(",")) <= extras.keys()


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.stem)
def test_the_package_builds_from_what_an_image_copies_for_it(path: Path, tmp_path: Path) -> None:
    build = path.read_text().partition("RUN uv venv")[0]
    for line in re.findall(r"^COPY (?!--from)(.+)$", build, re.MULTILINE):
        *sources, into = line.split()
        for each in sources:
            target = tmp_path / (each if into == "./" else into)
            if (ROOT / each).is_dir():
                shutil.copytree(ROOT / each, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / each, target)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "dist").glob("reverie-*.whl"))


def test_the_image_of_the_engine_has_no_orchestrator() -> None:
    text = (DEPLOYMENTS / "images" / "engine.Dockerfile").read_text()
    assert not any(name in text for name in ORCHESTRATORS)


def test_the_image_of_the_orchestrators_has_what_its_flows_need() -> None:
    text = (DEPLOYMENTS / "images" / "orchestration.Dockerfile").read_text()
    (default,) = re.findall(r"^ARG EXTRAS=(\S+)$", text, re.MULTILINE)
    assert (ROOT / "flows" / "deliver_webhooks.py").is_file() and {"prefect", "webhooks"} <= set(default.split(","))
