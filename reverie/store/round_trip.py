"""Statements to Postgres and their rows back in one round trip, on asyncio: libpq's pipeline mode by psycopg's `pq`.

psycopg's own pipeline waits on the socket and writes to it once a statement, which costs a server that answers small
requests all day more than the rest of a request. Here all statements leave in one write, and one wait brings all
answers. psycopg still connects, converts values and keeps the pool.
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


class SessionLostError(OperationalError):
    """The server's session no longer holds what was prepared in it; nothing was done, and the connection is closed."""


#: A text with $1, $2, ..., its values, and what a row's columns go to by name (None: a row is a tuple).
Query = tuple[LiteralString, Sequence[Any], type[Any] | None]


class _Known:
    """What a connection keeps from one round trip to the next: how values are converted, what is prepared."""

    __slots__ = ("names", "number", "transformer")

    def __init__(self, conn: AsyncConnection[Any]) -> None:
        self.transformer: Transformer = adapt.Transformer(conn)
        self.names: dict[tuple[str, tuple[int, ...]], bytes] = {}
        self.number = 0


_known: WeakKeyDictionary[AsyncConnection[Any], _Known] = WeakKeyDictionary()


async def undo(conn: AsyncConnection[Any]) -> None:
    """Roll back what is begun; a connection for which that fails, or whose state is unknown, is closed."""
    if conn.pgconn.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
        with suppress(Error):
            await round_trip(conn, [("rollback", (), None)])
    if conn.pgconn.transaction_status != TransactionStatus.IDLE:
        conn.pgconn.finish()


async def round_trip(conn: AsyncConnection[Any], queries: Sequence[Query]) -> list[list[Any]]:
    """Run prepared statements one after the other and return the rows of each; none for what returns nothing.

    All of them are one transaction, unless one of them is `begin` or `commit` or the connection is in one already
    (libpq, "Pipeline Mode"). The connection is used by nobody else meanwhile. Where it waits when it is cancelled, it
    is closed: what was sent may have happened.

    Raises the first statement's error of psycopg's that there is; the statements after it did not run.
    SessionLostError: the session forgot its prepared statements, and so perhaps its role and settings too.
    """
    known = _known.get(conn)
    if known is None:
        known = _known[conn] = _Known(conn)
    asked = [_converted(known.transformer, text, values) for text, values, _ in queries]
    pgconn = conn.pgconn
    results: list[PGresult] = []
    failed: PGresult | None = None
    pgconn.enter_pipeline_mode()
    try:
        fresh = [_send(pgconn, known, one) for one in asked]
        pgconn.pipeline_sync()
        for one, name in zip(asked, fresh, strict=True):
            if name is not None:
                prepared = await _answer(pgconn)
                failed = failed or _failed(prepared)
                if failed is None:
                    known.names[one.text, one.types] = name
            result = await _answer(pgconn)
            failed = failed or _failed(result)
            results.append(result)
        await _result(pgconn)  # of the sync: all is committed or undone
        pgconn.exit_pipeline_mode()
    except BaseException:
        pgconn.finish()  # nobody knows where it stands
        raise
    if failed is not None:
        error = errors.error_from_result(failed)
        if _forgot(error):
            pgconn.finish()
            raise SessionLostError("the session of this connection was reset") from error
        raise error
    return [_rows(known.transformer, result, row) for result, (_, _, row) in zip(results, queries, strict=True)]


class _Asked(NamedTuple):
    text: str
    params: Sequence[Buffer | None]
    types: tuple[int, ...]
    formats: Sequence[Format]


def _converted(transformer: Transformer, text: LiteralString, values: Sequence[Any]) -> _Asked:
    params = transformer.dump_sequence(values, [PyFormat.AUTO] * len(values))
    return _Asked(text, params, transformer.types or (), transformer.formats or ())


def _send(pgconn: PGconn, known: _Known, asked: _Asked) -> bytes | None:
    """Add a statement to what will be written; returns its name where it has to be prepared before."""
    name, fresh = known.names.get((asked.text, asked.types)), None
    if name is None:
        known.number += 1
        name = fresh = b"reverie_%d" % known.number
        pgconn.send_prepare(name, asked.text.encode(), param_types=asked.types)
    pgconn.send_query_prepared(name, asked.params, param_formats=asked.formats, result_format=Format.BINARY)
    return fresh


async def _answer(pgconn: PGconn) -> PGresult:
    """The one result of a statement, which an empty one ends."""
    result = await _result(pgconn)
    if pgconn.get_result() is not None:
        raise OperationalError("an answer came that nobody waits for")
    return result


async def _result(pgconn: PGconn) -> PGresult:
    while pgconn.is_busy():
        await _arrived(pgconn)
    result = pgconn.get_result()
    if result is None:
        raise OperationalError("the connection was lost")
    return result


async def _arrived(pgconn: PGconn) -> None:
    """Write what is left to write, until something comes or there is room to write more."""
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


def _forgot(error: Error) -> bool:
    """Whether a prepared statement is gone, was made by somebody else, or no longer fits its tables."""
    if isinstance(error, errors.InvalidSqlStatementName | errors.DuplicatePreparedStatement):
        return True
    return isinstance(error, errors.FeatureNotSupported) and error.diag.source_function == "RevalidateCachedQuery"


def _rows(transformer: Transformer, result: PGresult, row: type[Any] | None) -> list[Any]:
    if result.status != ExecStatus.TUPLES_OK:
        return []
    transformer.set_pgresult(result, format=Format.BINARY)
    found: list[Any] = transformer.load_rows(0, result.ntuples, tuple)
    return found if row is None else made(found, _names(result), row)


def made(rows: Sequence[Any], names: Sequence[str], row: type[Any]) -> list[Any]:
    """Return rows as what `row` makes of their columns by name."""
    return [row(**dict(zip(names, values, strict=True))) for values in rows]


def _names(result: PGresult) -> list[str]:
    return [(result.fname(place) or b"").decode() for place in range(result.nfields)]
