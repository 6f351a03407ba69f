"""Copies the inputs of a generation from the live database: the tenant's log, its clock and its cached vectors.

A copy adds the rows that the generation lacks, by key. So it can go on after an interruption, and bring a complete
generation up to date.
"""

from __future__ import annotations

from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Composable, Literal

from reverie.capture.append import note_late_outcomes
from reverie.drive.emptying import mark_counted
from reverie.errors import ConflictError
from reverie.generations.catalog import Generation
from reverie.store.queries import queries
from reverie.store.server.copying import CopiedTable, copied_tables, copy_missing

#: Tables whose rows leave the log only by erasure, unlike those of recalls and contexts, which have a retention.
_SAID = ("turns", "events", "outcomes", "corrections")
#: Tables whose rows have a source.
_WITH_SOURCE = ("turns", "events")


def follow_log(
    reading: Connection[Any], writing: Connection[Any], tenant_id: str, generation: Generation
) -> dict[str, int]:
    """Copy rows of the log that the generation lacks, within the caller's two transactions; return rows by table.

    Raises:
        ConflictError: rows in the generation's log are no longer in the log. The generation must not be used.
    """
    sql = queries("generations")
    (clock_at,) = reading.execute(sql["read_clock"], {"tenant": tenant_id}).fetchone() or (None,)
    writing.execute(sql["set_tenant"], {"tenant": tenant_id, "policy": generation.policy, "clock_at": clock_at})
    copied = {}
    for table in copied_tables(reading, "log"):
        copied[table.name] = _follow_table(reading, writing, tenant_id, generation, table)
    if copied.get("recalls"):
        mark_counted(writing, tenant_id)  # the marks are those of the live memory
    if copied.get("outcomes"):
        note_late_outcomes(writing, tenant_id)
    (cache,) = copied_tables(reading, "ops", some=("embeddings",))
    chosen = SQL(sql["of_model"]).format(model=Literal(generation.model))
    copied[cache.name] = copy_missing(reading, writing, tenant_id, cache, chosen).copied
    return copied


def _follow_table(
    reading: Connection[Any], writing: Connection[Any], tenant_id: str, generation: Generation, table: CopiedTable
) -> int:
    only: Composable | None = None
    if generation.without_source and table.name in _WITH_SOURCE:
        only = SQL(queries("generations")["without_source"]).format(source=Literal(generation.without_source))
    rows = copy_missing(reading, writing, tenant_id, table, only)
    if rows.gone and table.name in _SAID:
        raise ConflictError(
            f"{rows.gone:,} rows of log.{table.name} were removed since generation {generation.number} was begun: "
            f"drop it with `reverie generations --drop {generation.number}` and build another."
        )
    return rows.copied


def bring_home(reading: Connection[Any], writing: Connection[Any], tenant_id: str) -> int:
    """Copy vectors that were made for a generation into the live cache, for the next generation; return how many."""
    (cache,) = copied_tables(reading, "ops", some=("embeddings",))
    return copy_missing(reading, writing, tenant_id, cache).copied
