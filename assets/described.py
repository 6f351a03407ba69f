"""Metadata for the pages of the assets: owners, table, columns with their comments, and a page of docs/.

The columns come from the recorded schema, which is read when the code is loaded, without a database.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import dagster as dg

#: The default owners of the assets (see the component).
OWNERS = ["team:memory"]

_SCHEMA = Path(__file__).resolve().parents[1] / "sql" / "schema.txt"
_DOCS = Path(__file__).resolve().parents[1] / "docs"
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]+)\]\((?P<target>[^)\s]+)\)")
_COLUMN = re.compile(r"^  (?P<name>[a-z_][a-z0-9_]*) (?P<rest>[^()]+?.*?)(?: -- (?P<comment>.*))?$")
#: The rest of a recorded column, after its type.
_AFTER_TYPE = re.compile(r" (?:not null|default |statistics |generated |collate |grants ).*$")
#: The beginning of a table's line that is not a column.
_OTHER = re.compile(r"  (?:as|constraint|grants|trigger|policy \S+ (?:PERMISSIVE|RESTRICTIVE)) ")


@cache
def _tables() -> dict[str, str]:
    """Return the recorded lines of each table and view, by name."""
    parts = re.split(r"^(?:table|view) (\S+) ", _SCHEMA.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: text.partition("\n\n")[0] for name, text in zip(parts[1::2], parts[2::2], strict=True)}


@cache
def columns_of(table: str) -> dg.TableSchema:
    """Return the columns of a table such as `memory.memories`, with types and comments. KeyError: no such table."""
    columns = []
    for line in _tables()[table].splitlines()[1:]:
        found = _COLUMN.match(line)
        if found is None or _OTHER.match(line):
            continue
        constraints = dg.TableColumnConstraints(nullable=" not null" not in found["rest"])
        type_ = _AFTER_TYPE.sub("", found["rest"])
        columns.append(dg.TableColumn(found["name"], type_, found["comment"], constraints))
    return dg.TableSchema(columns)


@cache
def page(docs: str) -> str:
    """Return a page of docs/ for Dagster: without pictures, and with links within the repository as text."""
    text = (_DOCS / docs).read_text(encoding="utf-8")
    return f"{_LINK.sub(_without_target, text)}\n\nThis page is `docs/{docs}` of the repository."


def _without_target(link: re.Match[str]) -> str:
    if link["image"]:
        return ""
    return link[0] if link["target"].startswith("https://") else link["text"]


def described(
    table: str | None, docs: str, *, lineage: Mapping[str, Sequence[tuple[str, str]]] | None = None
) -> dict[str, Any]:
    """Return an asset's metadata: its table and columns, a page of docs/, and the lineage of its columns.

    `lineage`: for each column, the (asset, column) pairs that it is made from.
    """
    metadata: dict[str, Any] = {"documentation": dg.MetadataValue.md(page(docs))}
    if table is not None:
        metadata |= {"dagster/table_name": table, "dagster/column_schema": columns_of(table)}
    if lineage:
        sources = {
            name: [dg.TableColumnDep(asset_key=dg.AssetKey(asset), column_name=column) for asset, column in pairs]
            for name, pairs in lineage.items()
        }
        metadata["dagster/column_lineage"] = dg.TableColumnLineage(sources)
    return metadata
