"""The command that adds an extra, by where Reverie was installed from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reverie import installing


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'reverie[report]'"),
        (
            {"url": "file:///tmp/a%20b/reverie-0.1.0-py3-none-any.whl", "archive_info": {}},
            "pip install 'reverie[report] @ file:///tmp/a%20b/reverie-0.1.0-py3-none-any.whl'",
        ),
        ({"url": "file:///tmp/a%20b", "dir_info": {"editable": True}}, "pip install -e '/tmp/a b[report]'"),
        (
            {"url": "https://host/reverie.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "pip install 'reverie[report] @ git+https://host/reverie.git@abc'",
        ),
    ],
)
def test_an_extra_comes_from_where_the_engine_came_from(
    monkeypatch: pytest.MonkeyPatch, origin: dict[str, Any] | None, command: str
) -> None:
    class Installed:
        @staticmethod
        def read_text(name: str) -> str | None:
            assert name == "direct_url.json"
            return json.dumps(origin) if origin else None

    monkeypatch.setattr(installing, "distribution", lambda name: Installed())
    assert installing.install_command("report") == command


def test_a_tree_that_is_not_installed_takes_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise installing.PackageNotFoundError(name)

    monkeypatch.setattr(installing, "distribution", missing)
    assert installing.install_command("api") == "pip install 'reverie[api]'"
    assert installing.install_command("mcp", of="reverie-client") == "pip install 'reverie-client[mcp]'"


def test_the_commit_is_that_of_the_build_or_of_the_checkout(tmp_path: Path) -> None:
    package = tmp_path / "site" / "reverie"
    package.mkdir(parents=True)
    assert installing.build_commit(package) is None
    (package.parent / ".git").mkdir()
    assert installing.build_commit(package) is None, "the repository of an application is not ours"
    (package.parent / "pyproject.toml").touch()
    assert installing.build_commit(package) is None, "nor is one without a commit"
    (package / "commit.txt").write_text("abc123\n")
    assert installing.build_commit(package) == "abc123"
