"""The version of the code around a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.inference import version
from reverie.inference.judge import shared_judge
from reverie.inference.reader import shared_reader


def test_it_changes_with_code_and_numbers_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def made() -> str:
        version.code_version.cache_clear()
        return version.code_version("a", "b")

    for package in ("a", "b"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "code.py").write_text("x = 1")
    with monkeypatch.context() as patched:
        patched.setattr(version, "files", lambda package: tmp_path / package)
        first = made()
        (tmp_path / "a" / "CARD.md").write_text("what it is for")
        assert made() == first
        (tmp_path / "b" / "numbers.json").write_text("{}")
        assert made() != first
        (tmp_path / "b" / "numbers.json").unlink()
        (tmp_path / "a" / "code.py").write_text("x = 2")
        assert made() != first
    version.code_version.cache_clear()


def test_models_have_one() -> None:
    for model in (shared_reader(), shared_judge()):
        name, code = model.version.split("/")
        assert name == model.model and len(code) == 8
