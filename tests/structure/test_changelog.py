"""CHANGELOG.md keeps to the form of Keep a Changelog 1.1.0."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
VERSION = re.compile(r"\[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}")


def test_versions_are_headings_with_their_day_the_latest_first() -> None:
    first, *versions = re.findall(r"^## (.*)$", TEXT, re.MULTILINE)
    assert first == "[Unreleased]"
    released = [match[1] for heading in versions if (match := VERSION.fullmatch(heading))]
    assert len(released) == len(versions)
    numbers = [tuple(map(int, each.split("."))) for each in released]
    assert numbers == sorted(numbers, reverse=True)
    current = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert current not in released or released[0] == current


def test_each_change_stands_under_its_kind() -> None:
    for section in re.split(r"^## .*$", TEXT, flags=re.MULTILINE)[1:]:
        before, *parts = re.split(r"^### (.*)$", section, flags=re.MULTILINE)
        assert not before.strip(), f"a change without a kind: {before.strip()[:80]}"
        kinds, changes = parts[::2], parts[1::2]
        assert len(set(kinds)) == len(kinds) and set(kinds) <= set(KINDS)
        assert all(change.strip().startswith("- ") for change in changes)
