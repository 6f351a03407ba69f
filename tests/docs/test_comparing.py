"""docs/comparing.md says only what was measured: its figures stand in bench/README.md, and its counts are true."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "comparing.md").read_text(encoding="utf-8")
MEASURED = (ROOT / "bench" / "README.md").read_text(encoding="utf-8")
_SHARE = re.compile(r"(?<![\w.])\.\d{2,}")
_TIMES = re.compile(r"(?<![\w.])\d+\.\d{2,}")
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def is_measured(figure: str) -> bool:
    """Whether the benchmarks have the figure, with or without a zero in front."""
    return re.search(rf"(?<![\d.])0?{re.escape(figure)}(?!\d)", MEASURED) is not None


def test_every_figure_was_measured() -> None:
    ours, _, others = PAGE.partition("## What others have and Reverie lacks")
    figures = [*_SHARE.findall(ours), *_TIMES.findall(ours)]
    assert len(figures) > 30 and others
    assert [figure for figure in figures if not is_measured(figure)] == []


def test_a_figure_that_nobody_measured_is_found() -> None:
    assert is_measured(".811") and not is_measured(".8111") and not is_measured(".9999")


def test_adapters_are_counted() -> None:
    folders = [path for path in (ROOT / "clients").iterdir() if path.is_dir() and path.name != "python"]
    assert f"Adapters for {_NUMBERS[len(folders)]} frameworks" in PAGE
