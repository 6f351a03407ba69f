"""Rewrite tables, so that no file of Postgres holds what was deleted.

A deleted row stays in the files of its table and indexes until its place is used again, in the statistics of the
planner, and in the write-ahead log until its files are gone. Rewriting takes an exclusive lock of one table after the
other.
"""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from psycopg.sql import SQL, Identifier

from reverie.store.connect import connect
from reverie.store.queries import queries

#: Where the planner keeps samples of columns.
_STATISTICS = ("pg_catalog", "pg_statistic")


@dataclass(frozen=True, kw_only=True, slots=True)
class Scrubbed:
    """What was rewritten, and what only an administrator of the server can do."""

    tables: list[str]
    #: Sentences.
    done: list[str]
    left: list[str]


def scrub(url: str) -> Scrubbed:
    """Rewrite every table of ours with its indexes and statistics, then begin a new file of the write-ahead log.

    Takes about as long as copying the tables, and as much room on the disk as the largest. Raises DatabaseError.
    """
    sql, done, left = queries("scrub"), list[str](), list[str]()
    with connect(url, role="owner") as owner:
        tables = [row[0] for row in owner.execute(sql["tables"])]
        for table in tables:
            owner.execute(SQL("vacuum (full, analyze) {}").format(Identifier(*table.split("."))))
    with connect(url) as user:
        is_superuser, recycles = user.execute(sql["abilities"]).fetchone() or (False, "on")
        if is_superuser:
            user.execute(SQL("vacuum full {}").format(Identifier(*_STATISTICS)))
            _end_wal(user, keeps=recycles == "on")
            done.append("The planner's samples and the write-ahead log begin anew.")
        else:
            left.append(
                "let a superuser run: vacuum full pg_statistic; checkpoint; select pg_switch_wal(); checkpoint."
            )
            left.append("files of the write-ahead log that Postgres keeps to use again hold old rows until then.")
    left.append("backups and archived or replicated write-ahead logs keep it until they expire (docs/erasing.md).")
    return Scrubbed(tables=tables, done=done, left=left)


def _end_wal(user: psycopg.Connection[tuple[object, ...]], *, keeps: bool) -> None:
    """Delete the files of the write-ahead log that are no longer needed; `keeps`: they would be used again."""
    if keeps:
        _run(user, "keep_no_wal", "reload")
    try:
        for _ in range(2):  # what the first checkpoint itself needs, the second one does not
            _run(user, "checkpoint", "switch_wal", "checkpoint")
    finally:
        if keeps:
            _run(user, "recycle_wal", "reload")


def _run(user: psycopg.Connection[tuple[object, ...]], *names: str) -> None:
    for name in names:
        user.execute(queries("scrub")[name])
