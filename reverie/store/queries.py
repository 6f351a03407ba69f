"""The SQL files under `sql/queries/`, loaded once.

Each query of a file has a header, `-- name: NAME`. A query with variants has a template, under `-- template: NAME`,
and parts, under `-- part: FEATURE.NAME`. In variants with that feature, the part replaces `/* FEATURE.NAME */` in the
template or another part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import LiteralString, cast

_HEADER = re.compile(r"^-- (name|template|part): ([\w.]+)\s*$", re.MULTILINE)
_SLOT = re.compile(r"/\* (\w+\.\w+) \*/")


class TemplateError(Exception):
    """A template and its parts do not match."""


def sql_directory() -> Path:
    """Return the folder of SQL files: `reverie/sql` in a wheel, `sql` at the root of a checkout."""
    package = Path(__file__).resolve().parent.parent
    shipped = package / "sql"
    return shipped if shipped.is_dir() else package.parent / "sql"


@cache
def queries(stem: str) -> dict[str, LiteralString]:
    """Return the queries of `sql/queries/<stem>.sql` by name.

    Raises:
        FileNotFoundError: there is no such file.
    """
    return _read(stem)["name"]


@cache
def variants(
    stem: str, template: str, features: tuple[tuple[str, ...], ...]
) -> Mapping[tuple[str, ...], LiteralString]:
    """Return the variants of a template: a text for each choice of one feature from each group ("" is none).

    Raises TemplateError unless each slot has a part, each part has one slot, and the parts have exactly these features.
    """
    file = _read(stem)
    text, parts = file["template"][template], file["part"]
    slots = [slot for each in (text, *parts.values()) for slot in _SLOT.findall(each)]
    if sorted(slots) != sorted(parts):
        raise TemplateError(f"{stem}.sql: slots {sorted(slots)} and parts {sorted(parts)} are not the same.")
    offered = {feature for group in features for feature in group if feature}
    if offered != {part.partition(".")[0] for part in parts}:
        raise TemplateError(f"{stem}.sql: the parts are not of the features {sorted(offered)}.")
    return MappingProxyType({chosen: _fill(text, parts, frozenset(chosen)) for chosen in product(*features)})


def _fill(text: LiteralString, parts: Mapping[str, LiteralString], chosen: frozenset[str]) -> LiteralString:
    def part(slot: re.Match[str]) -> str:
        return _fill(parts[slot[1]], parts, chosen) if slot[1].partition(".")[0] in chosen else ""

    return _SLOT.sub(part, text)


@cache
def _read(stem: str) -> dict[str, dict[str, LiteralString]]:
    """Return the texts of a file, by the word in their header, then by name."""
    headed = _HEADER.split((sql_directory() / "queries" / f"{stem}.sql").read_text(encoding="utf-8"))
    texts: dict[str, dict[str, LiteralString]] = {"name": {}, "template": {}, "part": {}}
    for word, name, body in zip(headed[1::3], headed[2::3], headed[3::3], strict=True):
        # as LiteralString promises, the files are ours and never built from input
        texts[word][name] = cast("LiteralString", body.strip())
    return texts
