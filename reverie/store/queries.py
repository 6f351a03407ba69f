"""The SQL files under `sql/queries/`, loaded once by name."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import LiteralString, cast

_HEADER = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


def sql_directory() -> Path:
    """Return the folder of SQL files: `reverie/sql` in a wheel, `sql` at the root of a checkout."""
    package = Path(__file__).resolve().parent.parent
    shipped = package / "sql"
    return shipped if shipped.is_dir() else package.parent / "sql"


@cache
def queries(stem: str) -> dict[str, LiteralString]:
    """Return the queries of `sql/queries/<stem>.sql` by their `-- name:` header.

    Raises:
        FileNotFoundError: there is no such file.
    """
    text = (sql_directory() / "queries" / f"{stem}.sql").read_text(encoding="utf-8")
    pieces = _HEADER.split(text)
    # the files are ours and never built from input: that is what LiteralString vouches for
    return {name: cast("LiteralString", body.strip()) for name, body in zip(pieces[1::2], pieces[2::2], strict=True)}
