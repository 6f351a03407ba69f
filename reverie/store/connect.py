"""Connections to Postgres: one address, one role, one tenant, and one clear sentence for every failure.

Every connection is in autocommit, so work is transactional only in an explicit transaction and no snapshot stays open.
Its session is in UTC, so no date depends on the server's time zone. The module imports psycopg alone; the embedded
server, the pool, pgvector and SQLAlchemy are imported where they are used.
"""

from __future__ import annotations

import select
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, LiteralString

import psycopg
from psycopg import AsyncConnection, Connection, IsolationLevel, Rollback, errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.sql import SQL

from reverie.errors import DatabaseError, InputError
from reverie.store.columns import register_columns, register_reals
from reverie.store.revisions import NOT_MIGRATED, read_revision, require_current
from reverie.store.session.pipeline import BIND_TENANT, Query, run_pipeline

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool, ConnectionPool


#: The role of a connection: `owner` migrates, `worker` consolidates, `reader` answers. Row-level security binds all;
#: `analyst` reads the rows of every tenant, but only the columns that hold no content (docs/decisions/0051).
ConnectionRole = Literal["owner", "worker", "reader", "analyst"]

OLDEST_POSTGRES = 15
OLDEST_PGVECTOR = (0, 7)
CONNECT_TIMEOUT_SECONDS = 10

DISK_FULL = (
    "The disk of the Postgres server is full: free or add space (`reverie doctor` shows what takes it) and repeat the "
    "command; it goes on where it stopped."
)
READ_ONLY = (
    "This Postgres accepts no writes: the database is read-only (default_transaction_read_only), or the server is a "
    "standby. Set DATABASE_URL to the primary, or make the database writable, and repeat the command."
)
FILES_GONE = (
    "The files of the Postgres server {where}are gone, though it still runs. Start it again (the embedded one: "
    "`reverie db start`, which begins with an empty database) and restore a backup if there is one."
)

#: Messages of libpq for a failed connection (it passes on no error code), each with our sentence.
_REFUSALS = (
    ("password authentication failed", "Postgres at {where} refused the password of user {user}."),
    ("no password supplied", "Postgres at {where} wants a password for user {user} and the URL has none."),
    ("server closed the connection", "Postgres at {where} broke the connection off."),
    ("is starting up", "Postgres at {where} is starting up: try again in a moment."),
    ("is shutting down", "Postgres at {where} is shutting down."),
    ("too many clients", "Postgres at {where} has no free connection left."),
    ("remaining connection slots", "Postgres at {where} has no free connection left."),
    ("no pg_hba.conf entry", "Postgres at {where} does not let user {user} in from this machine."),
    ('database "{database}" does not exist', "Postgres at {where} has no database {database}: create it first."),
    ('role "{user}" does not exist', "Postgres at {where} knows no user {user}."),
    ("failed to resolve host", "The host of Postgres, {where}, is not known."),
    ("invalid port number", "The port in the Postgres URL is not valid."),
    ("fatal:  could not open file", FILES_GONE.replace("{where}", "at {where} ")),
    ("connection refused", "No Postgres answers at {where}."),
    ("timeout expired", "No Postgres answers at {where}."),
    ("no such file or directory", "No Postgres answers at {where}."),
)


def connect(
    url: str, *, role: ConnectionRole | None = None, tenant: str | None = None, vectors: bool = False
) -> Connection[tuple[Any, ...]]:
    """Open one connection as `role` (None: the URL's own user), bound to `tenant` until it closes if one is given.

    `vectors` loads halfvec columns as `pgvector.HalfVector`, for one more round trip. Raises DatabaseError.
    """
    conn = _connected(url)
    try:
        _prepare(conn, role, tenant, vectors)
    except BaseException:
        conn.close()
        raise
    return conn


def connect_to_source(url: str) -> Connection[tuple[Any, ...]]:
    """Open a read-only connection to any Postgres: one transaction with one snapshot, times as ISO 8601 in UTC.

    Raises DatabaseError.
    """
    conn = _connected(url)
    try:
        conn.execute(_SET_SOURCE)
        conn.autocommit, conn.read_only, conn.isolation_level = False, True, IsolationLevel.REPEATABLE_READ
    except BaseException:
        conn.close()
        raise
    return conn


def open_pool(
    url: str,
    role: ConnectionRole | None,
    *,
    size: int = 4,
    tenant: str | None = None,
    vectors: bool = False,
    timeout: float = 30.0,
) -> ConnectionPool[Connection[tuple[Any, ...]]]:
    """Open a pool of up to `size` connections as `connect` makes them; `timeout`: seconds to wait for a free one.

    Use it as a context manager or close it. Raises DatabaseError at once if the server cannot be used or, for the roles
    worker and reader, if its schema is older or newer than this Reverie.
    """
    from psycopg_pool import ConnectionPool

    _try(url, role, tenant, vectors)
    return ConnectionPool(
        _conninfo(url),
        kwargs={"autocommit": True},
        configure=lambda conn: _prepare(conn, role, tenant, vectors),
        check=_check,
        min_size=1,
        max_size=size,
        timeout=timeout,
        name=f"reverie-{role or 'user'}",
        open=True,
    )


async def open_async_pool(
    url: str, role: ConnectionRole, *, size: int, timeout: float, statement_seconds: float | None
) -> AsyncConnectionPool[AsyncConnection[tuple[Any, ...]]]:
    """Open such a pool for asyncio. The server cancels statements that take longer than `statement_seconds`.

    psycopg prepares no statements on its connections: after a rollback, it would deallocate all statements of the
    session, including ours. Raises DatabaseError as `open_pool` does.
    """
    from psycopg_pool import AsyncConnectionPool

    _try(url, role)

    async def configure(conn: AsyncConnection[Any]) -> None:
        register_columns(conn)
        register_reals(conn)
        # many small statements by key: plan them once, and never as a scan because a table was empty at that moment
        settings = _settings(role, None) | {
            "plans": "force_generic_plan",
            "limit": f"{int((statement_seconds or 0) * 1000)}ms",
            # a reader only logs answers after sending them; a crash of the server may lose the last of them
            "commit": "off" if role == "reader" else "on",
        }
        with role_errors(conn.info.user, role):
            await conn.execute(_SET + _SET_MORE, settings)
        # prepared first: it then fails in a session that was reset, which has lost its role as well
        await run_pipeline(conn, [Query(BIND_TENANT, [""])])

    pool = AsyncConnectionPool(
        _conninfo(url),
        kwargs={"autocommit": True, "prepare_threshold": None},
        configure=configure,
        min_size=size,
        max_size=size,
        timeout=timeout,
        name=f"reverie-{role}-async",
        open=False,
    )
    await pool.open(wait=True, timeout=CONNECT_TIMEOUT_SECONDS)
    return pool


@contextmanager
def tenant_transaction(conn: Connection[tuple[Any, ...]], tenant: str) -> Iterator[Connection[tuple[Any, ...]]]:
    """Open a transaction that reads and writes rows of `tenant` alone; the binding ends with it.

    Raises InputError for an empty tenant, RuntimeError inside another transaction: Postgres would keep the binding
    until the outer one ends, whose remaining statements would act for the wrong tenant.
    """
    if not tenant:
        raise InputError("A tenant needs a name.")
    if conn.info.transaction_status != TransactionStatus.IDLE:
        raise RuntimeError("tenant_transaction needs a connection outside any transaction")
    # both in one message: for transactions of a statement or two, `begin` costs as much as the rest
    conn.execute(_begin(tenant), prepare=False)
    try:
        yield conn
    except BaseException as error:
        if not conn.broken:
            conn.rollback()
        if not isinstance(error, Rollback):
            raise
    else:
        conn.commit()


@lru_cache(maxsize=1024)
def _begin(tenant: str) -> bytes:
    return SQL("begin; select set_config('reverie.tenant', {}, true)").format(tenant).as_bytes()


def check_server(conn: Connection[tuple[Any, ...]]) -> None:
    """Raise DatabaseError unless this is Postgres >= 15 where pgvector >= 0.7 is installed or can be created."""
    version = conn.info.server_version
    if version < OLDEST_POSTGRES * 10_000:
        raise DatabaseError(f"This server is Postgres {version // 10_000}; Reverie needs {OLDEST_POSTGRES} or newer.")
    row = conn.execute(
        "select default_version, installed_version from pg_available_extensions where name = 'vector'"
    ).fetchone()
    if row is None:
        # every server has some extension: if it has none, the folder of extensions was deleted
        if conn.execute("select 1 from pg_available_extensions limit 1").fetchone() is None:
            raise DatabaseError(FILES_GONE.format(where=""))
        raise DatabaseError("This Postgres server lacks the pgvector extension: install it on the server.")
    available, installed = row
    found = str(installed or available)
    if tuple(int(part) for part in found.split(".")[:2]) < OLDEST_PGVECTOR:
        needed = ".".join(map(str, OLDEST_PGVECTOR))
        raise DatabaseError(f"This database has pgvector {found}; Reverie needs {needed} or newer.")


@contextmanager
def database_errors() -> Iterator[None]:
    """Turn errors that a user can fix (a lost or read-only server, a full disk, an old schema) into DatabaseError."""
    try:
        yield
    except (errors.UndefinedTable, errors.UndefinedColumn, errors.UndefinedFunction, errors.InvalidSchemaName) as error:
        raise DatabaseError(NOT_MIGRATED) from error
    except errors.DiskFull as error:
        raise DatabaseError(DISK_FULL) from error
    except errors.ReadOnlySqlTransaction as error:
        raise DatabaseError(READ_ONLY) from error
    except errors.UndefinedFile as error:
        raise DatabaseError(FILES_GONE.format(where="")) from error
    except psycopg.OperationalError as error:
        reason = error.diag.message_primary or "the connection was lost"
        raise DatabaseError(f"Postgres cannot continue: {reason}.") from error


@contextmanager
def role_errors(user: str, role: ConnectionRole | Literal["eraser"] | None) -> Iterator[None]:
    """Raise DatabaseError, with the reason and the remedy, if the user cannot take on the role."""
    try:
        yield
    except (errors.InvalidParameterValue, errors.UndefinedObject) as error:
        raise DatabaseError(NOT_MIGRATED) from error
    except errors.InsufficientPrivilege as error:
        raise DatabaseError(
            f"User {user} may not act as reverie_{role}: grant that role to it, or let it migrate."
        ) from error


def _conninfo(url: str) -> str:
    """Return the URL with a connect timeout, unless it has its own."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # the cause quotes the URL and may hold its password
        raise DatabaseError("The Postgres URL cannot be read: postgresql://user:password@host:5432/name.") from None
    timeout = {} if "connect_timeout" in given else {"connect_timeout": CONNECT_TIMEOUT_SECONDS}
    return psycopg.conninfo.make_conninfo(url, client_encoding="utf8", **timeout)


def _connected(url: str) -> Connection[tuple[Any, ...]]:
    """Open a connection in autocommit, without any setting."""
    try:
        return psycopg.connect(_conninfo(url), autocommit=True)
    except psycopg.OperationalError as error:
        raise _refusal(error, url) from error


# a source's transaction is idle while each batch is written here
_SET_SOURCE: LiteralString = """
select set_config('timezone', 'UTC', false),
       set_config('datestyle', 'ISO', false),
       set_config('idle_in_transaction_session_timeout', '0', false)
"""


_SET: LiteralString = """
select set_config('timezone', 'UTC', false),
       set_config('jit', 'off', false),
       set_config('plan_cache_mode', %(plans)s, false),
       set_config('role', %(role)s, false),
       set_config('reverie.tenant', %(tenant)s, false)
"""


_SET_MORE: LiteralString = """
       , set_config('enable_seqscan', 'off', false)
       , set_config('statement_timeout', %(limit)s, false)
       , set_config('synchronous_commit', %(commit)s, false)
"""


def _settings(role: ConnectionRole | None, tenant: str | None) -> dict[str, str]:
    """Return the parameters of `_SET`."""
    return {
        "role": f"reverie_{role}" if role else "none",
        "tenant": tenant or "",
        # a reader repeats the same small statements, and planning one costs more than running it; a worker's
        # batches change the tables under the plan, and a plan made for empty ones can take minutes
        "plans": "force_generic_plan" if role == "reader" else "force_custom_plan",
    }


def _try(url: str, role: ConnectionRole | None, tenant: str | None = None, vectors: bool = False) -> None:
    """Connect once and check the schema: a pool that cannot connect only reports a timeout."""
    with connect(url, role=role, tenant=tenant, vectors=vectors) as conn:
        if role in ("worker", "reader"):
            require_current(read_revision(conn))


def _check(conn: Connection[Any]) -> None:
    """Check an idle connection only if its socket is readable: the server writes to an idle one only to end it."""
    unread = select.poll()
    unread.register(conn, select.POLLIN)
    if unread.poll(0):
        from psycopg_pool import ConnectionPool

        ConnectionPool.check_connection(conn)


def _prepare(conn: Connection[Any], role: ConnectionRole | None, tenant: str | None, vectors: bool) -> None:
    """Set the session settings of a new connection, in one round trip."""
    register_columns(conn)
    with role_errors(conn.info.user, role):
        conn.execute(_SET, _settings(role, tenant))
    if vectors:
        _register_halfvec(conn)


def _register_halfvec(conn: Connection[Any]) -> None:
    from pgvector.psycopg.halfvec import register_halfvec_info  # imports numpy
    from psycopg.types import TypeInfo

    found = TypeInfo.fetch(conn, "halfvec")
    if found is None:
        raise DatabaseError(NOT_MIGRATED)
    register_halfvec_info(conn, found)


def _refusal(error: psycopg.OperationalError, url: str) -> DatabaseError:
    """Return the error for a failed connection. It never contains the password."""
    given = conninfo_to_dict(url)
    user = str(given.get("user", "")) or "(default)"
    names = {
        "where": f"{given.get('host') or 'the local socket'}:{given.get('port') or 5432}",
        "user": user,
        "database": str(given.get("dbname") or user),
    }
    said = str(error)
    for cue, sentence in _REFUSALS:
        if cue.format(**names).casefold() in said.casefold():
            return DatabaseError(sentence.format(**names))
    first = (said.strip().splitlines() or ["no reason given"])[0].rpartition("failed: ")[2]
    return DatabaseError(f"Postgres at {names['where']} refused the connection: {first.rstrip('.')}.")
