"""Rewrite tables, so that no file of Postgres contains deleted rows.

A deleted row stays in the files of its table and indexes until its space is reused, in the planner's statistics, and in
the write-ahead log until its files are deleted. Rewriting locks one table after the other exclusively.
"""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from psycopg.sql import SQL, Identifier

from reverie.store.connect import connect
from reverie.store.queries import queries

#: The table in which the planner keeps samples of columns.
_STATISTICS = ("pg_catalog", "pg_statistic")


@dataclass(frozen=True, kw_only=True, slots=True)
class Scrubbed:
    """The rewritten tables, and the steps left to an administrator of the server."""

    tables: list[str]
    #: Other steps, one sentence each: done, and left to an administrator.
    done: list[str]
    left: list[str]


def scrub(url: str) -> Scrubbed:
    """Rewrite all of our tables with their indexes and statistics, then begin a new file of the write-ahead log.

    Takes about as long as copying the tables, and as much disk space as the largest. Raises DatabaseError.
    """
    sql, done, left = queries("scrub"), list[str](), list[str]()
    with connect(url, role="owner") as owner:
        tables = [row[0] for row in owner.execute(sql["tables"])]
        for table in tables:
            owner.execute(SQL("vacuum (full, analyze) {}").format(Identifier(*table.split("."))))
    with connect(url) as user:
        is_superuser, recycles = user.execute(sql["abilities"]).fetchone() or (False, "on")
        if is_superuser:
            user.execute(sql["forget_samples"])  # an analysis of an empty table keeps those of its former rows
            user.execute(SQL("vacuum full {}").format(Identifier(*_STATISTICS)))
            _end_wal(user, keeps=recycles == "on")
            done.append("The planner's samples and the write-ahead log begin anew.")
        else:
            left.append(
                "let a superuser run: delete from pg_statistic; vacuum full pg_statistic; analyze; checkpoint; "
                "select pg_switch_wal(); checkpoint."
            )
            left.append("files of the write-ahead log that Postgres keeps to use again hold old rows until then.")
    left.append("backups and archived or replicated write-ahead logs keep it until they expire (docs/erasing.md).")
    return Scrubbed(tables=tables, done=done, left=left)


def _end_wal(user: psycopg.Connection[tuple[object, ...]], *, keeps: bool) -> None:
    """Delete files of the write-ahead log that are no longer needed. `keeps`: the server recycles such files.

    Files that were recycled before lie ahead of the current one with their old rows, until the log has passed them.
    """
    if keeps:
        _run(user, "keep_no_wal", "reload")
    try:
        _run(user, "checkpoint")
        (last,) = user.execute(queries("scrub")["last_wal"]).fetchone() or (None,)
        while user.execute(queries("scrub")["is_before"], {"last": last}).fetchone() == (True,):
            _run(user, "switch_wal", "checkpoint")
        for _ in range(2):  # the second deletes the files that the first itself needs
            _run(user, "checkpoint", "switch_wal", "checkpoint")
    finally:
        if keeps:
            _run(user, "recycle_wal", "reload")


def _run(user: psycopg.Connection[tuple[object, ...]], *names: str) -> None:
    for name in names:
        user.execute(queries("scrub")[name])
