"""How much disk a database takes, and how much is left where its server runs on this machine."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg import Connection

from reverie.store.queries import queries

#: Bytes that are to be free on any server: vectors and indexes of a long history are built beside the old ones.
_ROOM = 1 << 30


@dataclass(frozen=True, kw_only=True, slots=True)
class DiskSpace:
    """Sizes in bytes."""

    database: int
    #: The largest tables with their indexes, the largest first.
    tables: dict[str, int]
    #: What the write-ahead log may grow to between two checkpoints, by the server's `max_wal_size`.
    log: int
    #: Where the server keeps its data; None: on another machine, or this user may not know.
    directory: Path | None
    #: Left on the disk of that directory, and its size; None where it is not known.
    free: int | None = None
    total: int | None = None

    @property
    def needed(self) -> int:
        """What is to be free: the log, which Postgres cannot do without, and room to build something anew."""
        return self.log + _ROOM

    @property
    def is_short(self) -> bool:
        """Whether less than that is free."""
        return self.free is not None and self.free < self.needed


def disk_space(conn: Connection[Any]) -> DiskSpace:
    """Measure the database of a connection, and the disk below it if that is on this machine."""
    sql = queries("disk")
    size, log, data = conn.execute(sql["sizes"]).fetchone() or (0, 0, None)
    tables = dict(conn.execute(sql["largest_tables"], {"limit": 5}).fetchall())
    directory = Path(data) if data and _is_here(conn.info.host) else None
    free = total = None
    if directory is not None:
        try:
            usage = shutil.disk_usage(directory)
        except OSError:  # closed to this user, or the server runs in a container of its own
            directory = None
        else:
            free, total = usage.free, usage.total
    return DiskSpace(database=size, tables=tables, log=log, directory=directory, free=free, total=total)


def _is_here(host: str) -> bool:
    return host in ("", "localhost", "127.0.0.1", "::1") or host.startswith("/")
