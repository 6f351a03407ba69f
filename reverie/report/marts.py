"""The rows of the panels, read from the marts in the role of a data team: all tenants, no content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from psycopg import Connection, errors
from psycopg.rows import TupleRow

from reverie.errors import InputError
from reverie.report.panels import Panel, boards
from reverie.store.queries import queries

NOT_BUILT = (
    "There are no marts in this database. The dbt project that builds them is in the source of Reverie and not in its "
    "wheel: run `make marts` in a checkout, with DATABASE_URL unless this is that checkout's database (docs/marts.md)."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class PanelRows:
    """The rows of a panel."""

    panel: Panel
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


@dataclass(frozen=True, kw_only=True, slots=True)
class MartsRead:
    """The rows of all panels and what they cover."""

    tenants: tuple[str, ...]
    #: First day, and the day after the last one.
    since: date
    until: date
    panels: tuple[PanelRows, ...]


def read_marts(
    conn: Connection[TupleRow], *, today: date, tenant_id: str | None = None, days: int | None = None
) -> MartsRead:
    """Return the rows of each panel, of one tenant or all, for the `days` up to the last one with data or for all time.

    `conn` acts as `analyst`. `today` is the last day of figures by the clock, such as costs.

    Raises:
        InputError: the marts are not built, or have nothing about the tenant.
    """
    statements = queries("report")
    with conn.transaction():
        try:
            tenants, first, last = conn.execute(statements["span"], {"tenant": tenant_id}).fetchall()[0]
        except (errors.UndefinedTable, errors.InvalidSchemaName):
            raise InputError(NOT_BUILT) from None
        if not tenants:
            which = f"of tenant {tenant_id}" if tenant_id else "of any tenant"
            raise InputError(
                f"The marts hold nothing {which}: build them again with `make marts` once there is memory."
            )
        # tenants without turns and memories have no first and last day
        last = last or today
        since = max(first or last, last - timedelta(days=days - 1)) if days else first or last
        until = max(last, today) + timedelta(days=1)
        params = {"tenants": tenants, "since": since, "until": until}
        read = []
        for panel in (panel for board in boards() for panel in board.panels):
            cursor = conn.execute(statements[panel.name], params)
            columns = tuple(column.name for column in cursor.description or ())
            read.append(PanelRows(panel=panel, columns=columns, rows=cursor.fetchall()))
    return MartsRead(tenants=tuple(tenants), since=since, until=until, panels=tuple(read))
