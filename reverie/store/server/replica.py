"""A read replica: checks that it is one of our primary, and measures its lag.

A replica has caught up if it has replayed all that the primary had written a moment before. Otherwise its lag is at
most the time since the last commit that it replayed. Just after a pause of all writes, that is much more than the
actual lag.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple

from reverie.errors import DatabaseError
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession

#: The tenant of a session that reads no tenant's rows.
NO_TENANT = "-"


class ServerPosition(NamedTuple):
    """A server and its position in the write-ahead log."""

    cluster: int
    database: str
    started_at: datetime
    is_replica: bool
    #: Bytes of the log that it has written or, for a replica, replayed.
    position: int
    #: For a replica, seconds since the last commit that it replayed; None: it has replayed none since its start.
    commit_age: float | None


@contextmanager
def replica_errors() -> Iterator[None]:
    """Name the setting in a DatabaseError of the replica; without it, the error could be about the primary."""
    try:
        yield
    except DatabaseError as error:
        raise DatabaseError(f"REVERIE_READ_URL cannot be used. {error}") from error


async def read_position(session: TenantSession) -> ServerPosition:
    """Return the position of the session's server, in one round trip."""
    (row,) = await session.run(Statement(queries("replica")["position"], {}))
    return ServerPosition(*row)


def require_replica(primary: ServerPosition, replica: ServerPosition) -> None:
    """Raise DatabaseError unless `replica` is a physical replica of the primary's database, or that database itself."""
    if (replica.cluster, replica.database) != (primary.cluster, primary.database):
        raise DatabaseError("It is not a replica of the database of DATABASE_URL.")
    if not replica.is_replica and replica.started_at != primary.started_at:
        raise DatabaseError("It is no longer a replica: it was promoted and accepts writes.")


def seconds_behind(primary: ServerPosition | None, replica: ServerPosition) -> float | None:
    """Return the maximum lag of the replica in seconds; None: unknown.

    `primary` must be read before `replica`; None: it did not answer.
    """
    if not replica.is_replica or (primary is not None and replica.position >= primary.position):
        return 0.0
    return None if replica.commit_age is None else max(0.0, replica.commit_age)


def lag_notes(lag: float | None, *, limit: float) -> tuple[str, ...]:
    """Return the note of an answer from a replica that is more than `limit` seconds behind, or () if it is not."""
    if lag is None:
        return ("Read from a replica, and how far it is behind is not known: what is new may be missing.",)
    if lag > limit:
        return (f"Read from a replica that is up to {lag:,.0f} s behind: what is newer may be missing.",)
    return ()
