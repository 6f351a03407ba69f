"""`reverie fit-ranking` reads a tenant's log or labelled sets, and writes what it adopts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Invoke
from tests.evaluate.test_sets import data

__all__ = ["data"]  # a fixture


def test_a_tenant_without_outcomes_keeps_its_weights(world: Any, invoke: Invoke, tmp_path: Path) -> None:
    result = invoke("fit-ranking", "--write", str(tmp_path / "fitted.toml"))
    assert result.exit_code == 0, result.output
    assert "No labelled queries" in result.output and "no file was written" in result.output
    assert not (tmp_path / "fitted.toml").exists()


def test_sets_are_loaded_beside_the_tenants(ask: Callable[..., dict[str, Any]], invoke: Invoke, data: Path) -> None:
    found = ask("fit-ranking", "--policy", "reverie", "--data", str(data), "--set", "prefeval")
    assert found["examples"] == 3
    assert not any(kind["adopted"] for kind in found["kinds"]), "three queries are too few"
    unknown = invoke("fit-ranking", "--policy", "reverie", "--data", str(data), "--set", "nonsense")
    assert unknown.exit_code != 0 and "no labelled set nonsense" in unknown.output


def test_a_policy_never_becomes_its_own_base(world: Any, invoke: Invoke, tmp_path: Path) -> None:
    fitted, own = tmp_path / "fitted.toml", tmp_path / "own.toml"
    fitted.write_text('base = "reverie"\n')
    own.write_text('base = "fitted.toml"\n')
    for policy in (fitted, own):
        assert invoke("policy", "use", str(policy)).exit_code == 0
        refused = invoke("fit-ranking", "--write", str(fitted))
        assert refused.exit_code == 2 and "is the policy in use or one of its bases" in " ".join(refused.stderr.split())
    refused = invoke("fit-ranking", "--policy", str(own), "--write", str(tmp_path / "." / "own.toml"))
    assert refused.exit_code == 2 and own.read_text() == 'base = "fitted.toml"\n'


def test_a_file_without_permission_is_refused_before_the_work(
    world: Any, invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)  # tests may run as root, who may write everywhere
    refused = invoke("fit-ranking", "--write", str(tmp_path / "fitted.toml"))
    assert refused.exit_code == 2 and "cannot be written" in " ".join(refused.stderr.split())
