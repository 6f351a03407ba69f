"""The reference of the marts: each table with its grain and columns, from dbt's descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tools.reference.table import table

FILE = Path(__file__).resolve().parents[2] / "dbt" / "models" / "marts" / "marts.yml"


def marts_page() -> str:
    """Return each mart of the schema `marts`, with a row for each column."""
    parts = [
        "# Marts\nEvery table and view for data teams, with its columns. [marts.md](../docs/marts.md) says what each "
        "answers, with examples; `make docs` adds the lineage.\n"
    ]
    for model in yaml.safe_load(FILE.read_text(encoding="utf-8"))["models"]:
        rows = [(f"`{each['name']}`", each["data_type"], each["description"]) for each in model["columns"]]
        key = "".join(f"One row for each {', '.join(f'`{name}`' for name in names)}.\n\n" for names in _keys(model))
        parts.append(f"## {model['name']}\n\n{model['description']}\n\n{key}{table(('column', 'type', ''), rows)}")
    return "\n".join(parts)


def _keys(model: Mapping[str, Any]) -> list[list[str]]:
    return [each["columns"] for each in model.get("constraints", ()) if each["type"] == "primary_key"]
