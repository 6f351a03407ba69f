"""Disk usage of a database, and free space if its server runs on this machine."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg import Connection

from reverie.store.queries import queries

#: Bytes that must be free besides the log, to build the vectors and indexes of a long history beside the old ones.
_ROOM = 1 << 30


@dataclass(frozen=True, kw_only=True, slots=True)
class DiskSpace:
    """Sizes in bytes."""

    database: int
    #: The largest tables with their indexes, in descending order.
    tables: dict[str, int]
    #: The server's `max_wal_size`, to which the write-ahead log can grow between two checkpoints.
    log: int
    #: Data directory; None if it is on another machine or this user may not read the setting.
    directory: Path | None
    #: Free space and size of the disk; None if unknown.
    free: int | None = None
    total: int | None = None

    @property
    def needed(self) -> int:
        """The space that must be free: the log, and room to rebuild vectors and indexes."""
        return self.log + _ROOM

    @property
    def is_short(self) -> bool:
        """Whether less than `needed` is free."""
        return self.free is not None and self.free < self.needed


def disk_space(conn: Connection[Any]) -> DiskSpace:
    """Measure the database of a connection, and its disk if the server runs on this machine."""
    sql = queries("disk")
    size, log, data = conn.execute(sql["sizes"]).fetchone() or (0, 0, None)
    tables = dict(conn.execute(sql["largest_tables"], {"limit": 5}).fetchall())
    directory = Path(data) if data and _is_here(conn.info.host) else None
    free = total = None
    if directory is not None:
        try:
            usage = shutil.disk_usage(directory)
        except OSError:  # not readable by this user, or the server runs in a container
            directory = None
        else:
            free, total = usage.free, usage.total
    return DiskSpace(database=size, tables=tables, log=log, directory=directory, free=free, total=total)


def _is_here(host: str) -> bool:
    return host in ("", "localhost", "127.0.0.1", "::1") or host.startswith("/")
