"""Several statements to Postgres in one round trip, on asyncio: libpq's pipeline mode through psycopg's `pq` layer.

psycopg's own `AsyncConnection.pipeline()` writes to the socket and waits once per statement. Here one write sends all
statements and one wait receives all results, which takes less CPU time (docs/decisions/0035). psycopg still connects,
converts values and provides the pool.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, LiteralString, NamedTuple
from weakref import WeakKeyDictionary

from psycopg import AsyncConnection, Error, OperationalError, adapt, errors
from psycopg.abc import Transformer
from psycopg.adapt import Buffer, PyFormat
from psycopg.pq import ExecStatus, Format, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult

from reverie.store.session.statement import as_objects

#: Binds the rest of a transaction to a tenant; $1 is its name.
BIND_TENANT: LiteralString = "select set_config('reverie.tenant', $1, true)"


class SessionLostError(OperationalError):
    """The server process no longer holds the prepared statements; nothing was done, and the connection is closed."""


class Query(NamedTuple):
    """A text with $1, $2, ..., its values, and the type of its rows (None: tuples)."""

    text: LiteralString
    values: Sequence[Any] = ()
    row: type[Any] | None = None


class _Connected:
    """The state of a connection: the conversion of its values, and the statements prepared on it."""

    __slots__ = ("count", "names", "transformer")

    def __init__(self, conn: AsyncConnection[Any]) -> None:
        self.transformer: Transformer = adapt.Transformer(conn)
        #: Names of prepared statements by text and types of the parameters.
        self.names: dict[tuple[str, tuple[int, ...]], bytes] = {}
        self.count = 0


_connected: WeakKeyDictionary[AsyncConnection[Any], _Connected] = WeakKeyDictionary()


async def roll_back(conn: AsyncConnection[Any]) -> None:
    """Roll back an open transaction; close the connection if that fails or its state is unknown."""
    if conn.pgconn.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
        with suppress(Error):
            await run_pipeline(conn, [Query("rollback")])
    if conn.pgconn.transaction_status != TransactionStatus.IDLE:
        conn.pgconn.finish()


async def run_pipeline(conn: AsyncConnection[Any], queries: Sequence[Query]) -> list[list[Any]]:
    """Run prepared statements in order and return the rows of each; a statement that returns nothing has no rows.

    They are one transaction, unless one of them is `begin` or `commit` or a transaction is open already (libpq,
    "Pipeline Mode"). Nobody else may use the connection meanwhile. Cancelling the task here closes the connection; the
    statements already sent may have taken effect.

    Raises the first error of a statement, as psycopg's exception; later statements did not run. Raises SessionLostError
    if the server process lost its prepared statements, and so perhaps its role and settings.
    """
    connected = _connected.get(conn)
    if connected is None:
        connected = _connected[conn] = _Connected(conn)
    converted = [_convert(connected.transformer, query) for query in queries]
    pgconn = conn.pgconn
    results: list[PGresult] = []
    failure: PGresult | None = None
    pgconn.enter_pipeline_mode()
    try:
        new_names = [_send(pgconn, connected, each) for each in converted]
        pgconn.pipeline_sync()
        for each, name in zip(converted, new_names, strict=True):
            if name is not None:
                prepared = await _answer(pgconn)
                failure = failure or _failed(prepared)
                if failure is None:
                    connected.names[each.text, each.types] = name
            result = await _answer(pgconn)
            failure = failure or _failed(result)
            results.append(result)
        await _result(pgconn)  # the sync's: all is committed or rolled back
        pgconn.exit_pipeline_mode()
    except BaseException:
        pgconn.finish()  # its state is unknown
        raise
    if failure is not None:
        error = errors.error_from_result(failure)
        if _is_lost(error):
            pgconn.finish()
            raise SessionLostError("the session of this connection was reset") from error
        raise error
    return [_rows(connected.transformer, result, query.row) for result, query in zip(results, queries, strict=True)]


class _Converted(NamedTuple):
    text: str
    params: Sequence[Buffer | None]
    types: tuple[int, ...]
    formats: Sequence[Format]


def _convert(transformer: Transformer, query: Query) -> _Converted:
    params = transformer.dump_sequence(query.values, [PyFormat.AUTO] * len(query.values))
    return _Converted(query.text, params, transformer.types or (), transformer.formats or ())


def _send(pgconn: PGconn, connected: _Connected, query: _Converted) -> bytes | None:
    """Queue a statement to be sent; return its new name if it has to be prepared first."""
    name, new_name = connected.names.get((query.text, query.types)), None
    if name is None:
        connected.count += 1
        name = new_name = b"reverie_%d" % connected.count
        pgconn.send_prepare(name, query.text.encode(), param_types=query.types)
    pgconn.send_query_prepared(name, query.params, param_formats=query.formats, result_format=Format.BINARY)
    return new_name


async def _answer(pgconn: PGconn) -> PGresult:
    """Return the one result of a statement, and consume the null result that ends it."""
    result = await _result(pgconn)
    if pgconn.get_result() is not None:
        raise OperationalError("the server sent a result that was not asked for")
    return result


async def _result(pgconn: PGconn) -> PGresult:
    while pgconn.is_busy():
        await _readable(pgconn)
    result = pgconn.get_result()
    if result is None:
        raise OperationalError("the connection was lost")
    return result


async def _readable(pgconn: PGconn) -> None:
    """Flush the output; wait until the socket is readable, or writable if output is left."""
    loop, socket, left = asyncio.get_running_loop(), pgconn.socket, pgconn.flush()
    waiter: asyncio.Future[None] = loop.create_future()
    loop.add_reader(socket, _wake, waiter)
    if left:
        loop.add_writer(socket, _wake, waiter)
    try:
        await waiter
    finally:
        loop.remove_reader(socket)
        if left:
            loop.remove_writer(socket)
    pgconn.consume_input()


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


def _failed(result: PGresult) -> PGresult | None:
    return result if result.status in (ExecStatus.FATAL_ERROR, ExecStatus.PIPELINE_ABORTED) else None


def _is_lost(error: Error) -> bool:
    """Return whether a prepared statement is gone, was made by somebody else, or no longer fits its tables."""
    if isinstance(error, errors.InvalidSqlStatementName | errors.DuplicatePreparedStatement):
        return True
    return isinstance(error, errors.FeatureNotSupported) and error.diag.source_function == "RevalidateCachedQuery"


def _rows(transformer: Transformer, result: PGresult, row: type[Any] | None) -> list[Any]:
    if result.status != ExecStatus.TUPLES_OK:
        return []
    transformer.set_pgresult(result, format=Format.BINARY)
    rows: list[Any] = transformer.load_rows(0, result.ntuples, tuple)
    return rows if row is None else as_objects(rows, _columns(result), row)


def _columns(result: PGresult) -> list[str]:
    return [(result.fname(place) or b"").decode() for place in range(result.nfields)]
