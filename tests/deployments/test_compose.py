"""The compose file: Docker Compose itself accepts it, and what it starts, sets and mounts exists here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from reverie.cli.root import reverie
from reverie.settings import Settings
from reverie.telemetry.starting import ENDPOINT
from tests.deployments.conftest import DEPLOYMENTS

COMPOSE = DEPLOYMENTS / "compose" / "compose.yaml"
Services = dict[str, dict[str, Any]]


def docker_compose_or_skip() -> list[str]:
    """Docker Compose: a program of its own, beside this Python or on the path, or a part of Docker."""
    beside = Path(sys.executable).with_name("docker-compose")
    if program := str(beside) if beside.exists() else shutil.which("docker-compose"):
        return [program]
    docker = shutil.which("docker")
    if docker and not subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode:
        return [docker, "compose"]
    pytest.skip("needs Docker Compose: make test-deployments")


def test_docker_compose_reads_it() -> None:
    program = docker_compose_or_skip()
    profiles = [part for name in ("dagster", "prefect", "telemetry") for part in ("--profile", name)]
    command = [*program, "--file", str(COMPOSE), *profiles, "config", "--quiet"]
    without = subprocess.run(command, env={"PATH": os.defpath}, capture_output=True, text=True, check=False)
    assert without.returncode != 0 and "POSTGRES_PASSWORD" in without.stderr, "a password is asked for"
    done = subprocess.run(command, env={"POSTGRES_PASSWORD": "x"}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_engine_is_started_by_commands_that_there_are(services: Services) -> None:
    started = {
        name: service["command"] for name, service in services.items() if service["image"].startswith("reverie:")
    }
    assert started.keys() == {"migrate", "api", "worker"}
    for command, *arguments in started.values():
        found = reverie.get_command(reverie.make_context("reverie", ["--help"], resilient_parsing=True), command)
        assert found is not None
        found.make_context(command, [str(each) for each in arguments])


def test_every_setting_is_one_of_ours(services: Services) -> None:
    ours = {f"REVERIE_{name.upper()}" for name in Settings.model_fields}
    used = {name for service in services.values() for name in service.get("environment", {}) if "REVERIE" in name}
    assert used and used <= ours


def test_what_is_off_until_it_is_set(services: Services) -> None:
    given = {
        "REVERIE_READ_URL": "postgresql://replica/reverie",
        ENDPOINT: "http://otel-collector:4318",
        "REVERIE_MCP_ORIGINS": "https://app.example",
        "REVERIE_MCP_ISSUERS": "https://login.example",
        "REVERIE_WEBHOOK_PRIVATE_HOSTS": "hooks.internal",
    }
    of_api = {
        "REVERIE_INSPECTOR": "1",
        "REVERIE_INSPECTOR_KEY": "k" * 32,
        "REVERIE_INSPECTOR_SECRET": "s" * 32,
        "FORWARDED_ALLOW_IPS": "172.16.0.0/12",
    }
    for name in ("api", "worker"):
        assert all(services[name]["environment"][variable] is None for variable in given)
    assert all(services["api"]["environment"][variable] is None for variable in of_api)
    assert not of_api.keys() & services["worker"]["environment"].keys(), "the pages are the API's alone"
    given |= of_api
    program = docker_compose_or_skip()
    shown = [*program, "--file", str(COMPOSE), "config"]
    off = subprocess.run(shown, env={"POSTGRES_PASSWORD": "x"}, capture_output=True, text=True, check=True).stdout
    on = subprocess.run(
        shown, env={"POSTGRES_PASSWORD": "x"} | given, capture_output=True, text=True, check=True
    ).stdout
    for name, value in given.items():
        assert yaml.safe_load(off)["services"]["api"]["environment"].get(name) is None
        assert yaml.safe_load(on)["services"]["api"]["environment"][name] == value


def test_the_orchestrators_get_the_extras_whose_settings_they_get(services: Services) -> None:
    assert (
        ENDPOINT in services["dagster-daemon"]["environment"] and ENDPOINT in services["prefect-worker"]["environment"]
    )
    text = (DEPLOYMENTS / "images" / "orchestration.Dockerfile").read_text()
    (default,) = re.findall(r"^ARG EXTRAS=(\S+)$", text, re.MULTILINE)
    args = services["dagster-daemon"]["build"].get("args", {})
    assert args == {"EXTRAS": default + "${REVERIE_EXTRAS:+,${REVERIE_EXTRAS}}"}
    shown = [*docker_compose_or_skip(), "--file", str(COMPOSE), "--profile", "dagster", "config"]
    for given, extras in (({}, default), ({"REVERIE_EXTRAS": "api,telemetry"}, f"{default},api,telemetry")):
        done = subprocess.run(shown, env={"POSTGRES_PASSWORD": "x"} | given, capture_output=True, text=True, check=True)
        build = yaml.safe_load(done.stdout)["services"]["dagster-daemon"]["build"]
        assert build["args"]["EXTRAS"] == extras


def test_every_file_that_is_mounted_or_built_is_there(services: Services) -> None:
    for name, service in services.items():
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert not source.startswith(".") or (COMPOSE.parent / source).exists(), (name, source)
        if build := service.get("build"):
            root = (COMPOSE.parent / build["context"]).resolve()
            assert (root / build["dockerfile"]).is_file() and (root / "pyproject.toml").is_file()


def test_our_containers_can_do_little(services: Services) -> None:
    for name, service in services.items():
        if name == "postgres":
            continue
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name


def test_no_secret_is_written_down() -> None:
    for path in (DEPLOYMENTS / "compose").iterdir():
        assert not re.search(r"(?i)(password|key|secret)\w*[ \t]*[:=][ \t]*[\"']?[a-z0-9]{6}", path.read_text()), (
            path.name
        )


def test_the_files_of_other_programs_can_be_read(services: Services) -> None:
    collector = yaml.safe_load((COMPOSE.parent / "otel-collector.yaml").read_text())
    for pipeline in collector["service"]["pipelines"].values():
        for kind in ("receivers", "processors", "exporters"):
            assert set(pipeline[kind]) <= collector[kind].keys()
    (target,) = collector["receivers"]["prometheus"]["config"]["scrape_configs"][0]["static_configs"][0]["targets"]
    assert target == f"api:{services['api']['command'][-1]}"
    (source,) = yaml.safe_load((COMPOSE.parent / "grafana.yaml").read_text())["datasources"]
    assert source["url"].partition(":")[0] in services
