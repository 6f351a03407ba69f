"""Operations that the command line and the API share, written once and run without or with asyncio.

An operation is a generator: it yields what it wants done, is sent the result, and returns its answer.

    def speakers(tenant_id: str, subject_id: str) -> Steps[list[str]]:
        params = {"tenant": tenant_id, "subject": subject_id}
        rows = yield Statement(queries("recall")["read_subject"], params, last=True)
        return rows[0][0] if rows else []

    perform(store, tenant_id, speakers(tenant_id, "ana"))                    # psycopg's pool
    await perform_async(async_store, tenant_id, speakers(tenant_id, "ana"))  # its asyncio pool

All statements between two `Outside` or `Awaited` run in one transaction of the tenant; those two run without a
connection, so none is ever held across the call of a model (promise 9). An error in a statement ends the operation and
rolls back; an error of the two is raised inside the generator, which may go on without their result.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, LiteralString, TypeAlias, TypeVar

import orjson
from psycopg import AsyncConnection, RawCursor
from psycopg.types.json import Jsonb

from reverie.errors import InputError
from reverie.store.columns import register_reals
from reverie.store.connect import BIND_TENANT
from reverie.store.database import AsyncStore, Store
from reverie.store.round_trip import Query, SessionLostError, made, round_trip

T = TypeVar("T")

Rows: TypeAlias = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Statement:
    """A query with `%(name)s` places; the generator is sent its rows, none for what returns nothing.

    It is prepared on its connection and answered in binary.
    """

    sql: LiteralString
    params: Mapping[str, Any] = field(default_factory=dict)
    #: What a row's columns go to by name, such as `dict` or a dataclass; None: a row is a tuple.
    row: type[Any] | None = None
    #: No statement follows in this transaction: the commit goes out with it, which spares a round trip. One that is
    #: first and last is sent with the tenant's binding in a single round trip.
    last: bool = False


@dataclass(frozen=True, slots=True)
class Outside:
    """Work that holds no connection, such as the call of a model; the generator is sent what it returns."""

    call: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Awaited:
    """What somebody else is working on, waited for with neither a connection nor a thread.

    The generator is sent its result, or TimeoutError is raised in it after `seconds`; the work itself goes on.
    """

    future: Future[Any]
    seconds: float


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of a log; `sql` writes many of them, as `%(rows)s`, a JSON array, for `%(tenant)s`."""

    sql: LiteralString
    row: Mapping[str, Any]


#: What an operation may yield: a tuple of statements goes out together and is answered by a tuple of their rows.
Step: TypeAlias = Statement | tuple[Statement, ...] | Outside | Awaited
Steps: TypeAlias = Generator[Step, Any, T]


def beside(others: tuple[Statement, ...], steps: Steps[T]) -> Steps[tuple[tuple[Rows, ...], T]]:
    """Run an operation whose first statement goes out with `others`; return their rows and its answer.

    Its statement must be `last` in its transaction, as must be the last of the others: it may have none.
    """
    rows: tuple[Rows, ...] | None = None
    try:
        step = next(steps)
        while True:
            try:
                if rows is None and isinstance(step, Statement):
                    *found, told = yield (*others, step)
                    rows = tuple(found)
                else:
                    told = yield step
            except Exception as error:
                step = steps.throw(error)
            else:
                step = steps.send(told)
    except StopIteration as end:
        if rows is None:
            rows = yield others
        return rows, end.value


def entering(tenant_id: str, entries: Sequence[Entry]) -> Steps[None]:
    """Write entries in one transaction, those of one kind in one statement."""
    rows: dict[LiteralString, list[Mapping[str, Any]]] = {}
    for entry in entries:
        rows.setdefault(entry.sql, []).append(entry.row)
    kinds = list(rows)
    yield tuple(
        Statement(sql, {"tenant": tenant_id, "rows": Jsonb(rows[sql], dumps=orjson.dumps)}, last=sql is kinds[-1])
        for sql in kinds
    )


def perform(store: Store, tenant_id: str, steps: Steps[T]) -> T:
    """Run an operation for a tenant and return its answer. Raises what the operation and psycopg raise."""
    with closing(steps):
        course = _Course(steps)
        while course.step is not None:
            if isinstance(course.step, Outside | Awaited):
                try:
                    result = _come(course.step)
                except Exception as error:
                    course.throw(error)
                else:
                    course.send(result)
                continue
            rows = None
            with store.transaction(tenant_id) as conn:
                while rows is None and not isinstance(course.step, Outside | Awaited) and course.step is not None:
                    step = course.step
                    found = tuple(_execute(RawCursor(conn), each) for each in _batch(step))
                    answer = found if isinstance(step, tuple) else found[0]
                    if _ends(step):
                        rows = answer
                    else:
                        course.send(answer)
            if rows is not None:
                course.send(rows)
        return course.answer


async def perform_async(
    store: AsyncStore,
    tenant_id: str,
    steps: Steps[T],
    *,
    executor: Executor | None = None,
    on_commit: Callable[[], None] | None = None,
) -> T:
    """Run an operation for a tenant on asyncio; `Outside` runs in a thread of `executor`, or of the loop's own.

    `on_commit` is called before each commit is sent: what is cancelled from then on may have been stored. A transaction
    whose first statements find the session lost is begun again on another connection.
    """
    if not tenant_id:
        raise InputError("A tenant needs a name.")
    with closing(steps):
        course = _Course(steps)
        lost = 0
        while course.step is not None:
            if isinstance(course.step, Outside | Awaited):
                try:
                    result = await _come_async(course.step, executor)
                except Exception as error:
                    course.throw(error)
                else:
                    course.send(result)
                continue
            step = course.step
            try:
                async with store.connection() as conn:
                    rows = await _transaction(conn, tenant_id, course, on_commit)
            except SessionLostError:
                lost += 1
                if course.step is not step or lost > store.size:
                    raise
                continue
            if rows is not None:
                course.send(rows)
        return course.answer


def _come(step: Outside | Awaited) -> Any:
    return step.call() if isinstance(step, Outside) else step.future.result(max(step.seconds, 0))


async def _come_async(step: Outside | Awaited, executor: Executor | None) -> Any:
    if isinstance(step, Outside):
        return await asyncio.get_running_loop().run_in_executor(executor, step.call)
    if not step.future.done():
        # it is not cancelled when the time is over or the request is given up: others may still want it
        await asyncio.wait([asyncio.wrap_future(step.future)], timeout=max(step.seconds, 0))
    if not step.future.done():
        raise TimeoutError
    return step.future.result()


class _Course(Generic[T]):
    """Where an operation stands: the step it waits for, or its answer when that is None."""

    def __init__(self, steps: Steps[T]) -> None:
        self._steps = steps
        self.answer: T
        self.step: Step | None = None
        self.send(None)

    def send(self, result: Any) -> None:
        self._go_on(lambda: self._steps.send(result))

    def throw(self, error: Exception) -> None:
        self._go_on(lambda: self._steps.throw(error))

    def _go_on(self, move: Callable[[], Step]) -> None:
        try:
            self.step = move()
        except StopIteration as end:
            self.step, self.answer = None, end.value


async def _transaction(
    conn: AsyncConnection[Any], tenant_id: str, course: _Course[Any], on_commit: Callable[[], None] | None
) -> Any:
    """Run the statements up to what is outside; the rows of the last one are returned once all is committed.

    What one round trip sends is one transaction even without `begin`, so a single statement goes without: binding,
    statement and commit together. Several need `begin`, as the end of the first round trip would commit it.
    """
    step = course.step
    queries: list[Query] = [(BIND_TENANT, [tenant_id], None)]
    if begun := not _ends(step):
        queries.insert(0, ("begin", (), None))
    while isinstance(step, Statement | tuple):
        batch, last = _batch(step), _ends(step)
        queries += [(*_raw(each), each.row) for each in batch]
        if last and begun:
            queries.append(("commit", (), None))
        if last and on_commit is not None:
            on_commit()
        rows = await round_trip(conn, queries)
        first = len(rows) - len(batch) - (last and begun)
        found = tuple(rows[first : first + len(batch)]) if isinstance(step, tuple) else rows[first]
        if last:
            return found
        course.send(found)
        step, queries = course.step, []
    if on_commit is not None:
        on_commit()
    await round_trip(conn, [("commit", (), None)])
    return None


def _execute(cursor: RawCursor[Any], statement: Statement) -> Rows:
    text, values = _raw(statement)
    register_reals(cursor)
    cursor.execute(text, values, prepare=True, binary=True)
    if not cursor.description:
        return []
    rows = cursor.fetchall()
    return rows if statement.row is None else made(rows, [column.name for column in cursor.description], statement.row)


def _batch(step: Step) -> tuple[Statement, ...]:
    if isinstance(step, Outside | Awaited):
        raise TypeError("what runs outside holds no statement")
    return step if isinstance(step, tuple) else (step,)


def _ends(step: Step | None) -> bool:
    return isinstance(step, Statement | tuple) and _batch(step)[-1].last


def _raw(statement: Statement) -> tuple[LiteralString, list[Any]]:
    text, names = numbered(statement.sql)
    return text, [statement.params[name] for name in names]


@cache
def numbered(query: LiteralString) -> tuple[LiteralString, tuple[str, ...]]:
    """Return the query with $1, $2, ... for its `%(name)s`, and their names; psycopg parses long queries each time."""
    names = tuple(dict.fromkeys(re.findall(r"%\((\w+)\)s", query)))
    for number, name in enumerate(names, start=1):
        query = query.replace(f"%({name})s", f"${number}")
    return query.replace("%%", "%"), names
