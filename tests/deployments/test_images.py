"""The Dockerfiles: every file that they copy is there, nobody is root, and the API's image has no orchestrator."""

from __future__ import annotations

import re
import tomllib

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


def test_the_image_of_the_engine_has_no_orchestrator() -> None:
    text = (DEPLOYMENTS / "images" / "engine.Dockerfile").read_text()
    assert not any(name in text for name in ORCHESTRATORS)


def test_the_image_of_the_orchestrators_has_what_its_flows_need() -> None:
    text = (DEPLOYMENTS / "images" / "orchestration.Dockerfile").read_text()
    (default,) = re.findall(r"^ARG EXTRAS=(\S+)$", text, re.MULTILINE)
    assert (ROOT / "flows" / "deliver_webhooks.py").is_file() and {"prefect", "webhooks"} <= set(default.split(","))
