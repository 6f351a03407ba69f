"""The checks of `reverie doctor`. Each result is one line, with the remedy."""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any, Literal

from psycopg import Connection

import reverie
from reverie.cli.session import CommandSession
from reverie.drive.late import late_subjects
from reverie.errors import ReverieError
from reverie.evaluate.health import LATE_CYCLES, LATE_MINUTES, lag_hours, overdue, unembedded
from reverie.inference.loading import mood_model_of
from reverie.installing import install_command
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.clock import read_clock
from reverie.store.connect import check_server, connect
from reverie.store.migrate import CREATE_FOLDING, NOT_FOLDING, folds_case
from reverie.store.queries import queries
from reverie.store.revisions import START_ANEW, is_unreleased, known_revisions, read_revision
from reverie.store.runs import count_failed_runs
from reverie.store.server.disk import DiskSpace, disk_space
from reverie.store.server.replica import replica_errors
from reverie.store.work import Work

Status = Literal["ok", "warn", "fail"]

#: A fixed text. Two machines that embed it to the same vector get the same digest for the same memory.
_PROBE = "Memory is a view of the log."
#: Adapters that need an extra of the same name.
_EXTRAS = ("litellm", "sentence-transformers")
#: Roles that a user needs only for some commands, with the remedy. Once the schema is current, others can use these.
_SPARE = {
    "reverie_analyst": "for marts, reverie check and reverie report: grant reverie_analyst to it",
    "reverie_owner": "reverie migrate and reverie erase --vacuum, as another user",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckResult:
    """One line of the report."""

    name: str
    status: Status
    found: str
    #: The remedy; empty if nothing is wrong.
    todo: str = ""


def check_all(session: CommandSession, tenant: str | None) -> Iterator[CheckResult]:
    """Run the checks, for one tenant or all of them. A check is skipped if one that it depends on failed."""
    yield CheckResult(
        name="versions",
        status="ok",
        found=f"reverie {reverie.__version__}, Python {platform.python_version()}, {platform.platform(terse=True)}",
    )
    settings = list(_guarded("settings", lambda: _settings(session)))
    yield from settings
    if _failed(settings):
        return
    yield from _guarded("embedder", lambda: _embedder(session))
    yield from _guarded("language model", lambda: _language_model(session))
    yield from _guarded("mood model", lambda: _mood_model(session))
    yield from _guarded("reranker", lambda: _reranker(session))
    schema = list(_guarded("database", lambda: _database(session)))
    yield from schema
    if _failed(schema):
        yield from _guarded("policy", lambda: _policies({session.settings.policy}))
        return
    yield from _guarded("read replica", lambda: _read_replica(session))
    yield from _guarded("tenants", lambda: _tenants(session, tenant))


def _guarded(name: str, checks: Callable[[], Iterator[CheckResult]]) -> Iterator[CheckResult]:
    """Yield the results of `checks`; an error ends them and becomes a failed result."""
    try:
        yield from checks()
    except ReverieError as error:
        yield CheckResult(name=name, status="fail", found=str(error), todo="see the message")


def _failed(checks: list[CheckResult]) -> bool:
    return any(check.status == "fail" for check in checks)


def _settings(session: CommandSession) -> Iterator[CheckResult]:
    settings = session.settings
    where = "DATABASE_URL" if settings.database_url else f"embedded Postgres under {settings.home}"
    found = f"tenant {settings.tenant}, policy {settings.policy}, {settings.threads} threads, {where}"
    yield CheckResult(name="settings", status="ok", found=found)


def _embedder(session: CommandSession) -> Iterator[CheckResult]:
    began = time.perf_counter()
    embedder = session.embedder
    vector = embedder.encode([_PROBE])
    took = time.perf_counter() - began
    sha = hashlib.sha256(vector.tobytes()).hexdigest()[:16]
    found = f"{embedder.model}, {vector.shape[1]} dimensions, probe {sha}, ready in {took:.1f} s"
    yield CheckResult(name="embedder", status="ok", found=found)


def _language_model(session: CommandSession) -> Iterator[CheckResult]:
    model = session.language_model.key if session.language_model else None
    fallbacks = {"without": "rules and extractive summaries", "failing": "rules if it fails or credit runs out"}
    yield _model_by_name("language model", model, **fallbacks)


def _mood_model(session: CommandSession) -> Iterator[CheckResult]:
    model = mood_model_of(session.settings)
    fallbacks = {"without": "classifier and keywords", "failing": "the policy's other steps if it is slow or fails"}
    yield _model_by_name("mood model", model.key if model else None, **fallbacks)


def _reranker(session: CommandSession) -> Iterator[CheckResult]:
    fallbacks = {"without": "weighted signals", "failing": "weighted signals if it fails"}
    yield _model_by_name("reranker", session.reranker.model if session.reranker else None, **fallbacks)


def _model_by_name(name: str, model: str | None, *, without: str, failing: str) -> CheckResult:
    """Check a model by its name alone, since a request costs money and a library takes seconds to load."""
    if model is None:
        return CheckResult(name=name, status="ok", found=f"none: {without}")
    extra = model.partition("/")[0]
    if extra in _EXTRAS and find_spec(extra.replace("-", "_")) is None:
        return CheckResult(name=name, status="fail", found=f"{model} needs an extra", todo=install_command(extra))
    return CheckResult(name=name, status="ok", found=f"{model}, {failing}")


def _database(session: CommandSession) -> Iterator[CheckResult]:
    sql = queries("doctor")
    with connect(session.url) as conn:
        info = conn.info
        version = f"Postgres {info.server_version // 10_000}.{info.server_version % 10_000}"
        found = f"{version} at {info.host}:{info.port}, database {info.dbname}"
        (accepts_writes,) = conn.execute(sql["is_writable"]).fetchone() or (True,)
        if accepts_writes:
            yield CheckResult(name="database", status="ok", found=found)
        else:
            found += ": it accepts no writes, as it is read-only or a standby"
            todo = "set DATABASE_URL to the primary, or make the database writable"
            yield CheckResult(name="database", status="fail", found=found, todo=todo)
        check_server(conn)
        yield _locale(conn)
        row = conn.execute(sql["vector_version"]).fetchone()
        if row is None:
            yield CheckResult(name="pgvector", status="fail", found="not in this database yet", todo="reverie migrate")
            return
        yield CheckResult(name="pgvector", status="ok", found=str(row[0]))
        yield from _roles(conn, session)
        yield from _migrations(session)
        yield from _isolation(conn)
        yield _disk(disk_space(conn))


def _locale(conn: Connection[Any]) -> CheckResult:
    if folds_case(conn):
        return CheckResult(name="locale", status="ok", found="folds the case of all letters")
    todo = f"move to a database made with {CREATE_FOLDING} (docs/deploying.md)"
    return CheckResult(name="locale", status="warn", found=NOT_FOLDING, todo=todo)


def _read_replica(session: CommandSession) -> Iterator[CheckResult]:
    name, url = "read replica", session.settings.read_url
    if url is None:
        return
    with replica_errors(), connect(url.get_secret_value(), role="reader") as conn:
        where = f"{conn.info.host}:{conn.info.port}"
        (is_replica,) = conn.execute(queries("doctor")["is_replica"]).fetchone() or (False,)
        revision, newest = read_revision(conn), known_revisions()[-1]
    if revision != newest:
        todo = "wait until it has replayed the migration of the database, or make it again"
        yield CheckResult(name=name, status="fail", found=f"{where} is at {revision}, not at {newest}", todo=todo)
        return
    lag, limit = session.runtime.replica_lag(), session.settings.read_lag_seconds
    if not is_replica:
        todo = "name a streaming replica, or unset REVERIE_READ_URL"
        yield CheckResult(name=name, status="warn", found=f"{where} is the database itself", todo=todo)
    elif lag is None:
        found = f"{where}, at {revision}; its lag is unknown: it has replayed no commit since it started"
        yield CheckResult(name=name, status="warn", found=found, todo="check that it receives the primary's log")
    else:
        found = f"{where}, at {revision}, at most {lag:,.1f} s behind" if lag else f"{where}, at {revision}, caught up"
        late = lag > limit
        todo = "check its replication" if late else ""
        yield CheckResult(name=name, status="warn" if late else "ok", found=found, todo=todo)


def _disk(space: DiskSpace) -> CheckResult:
    from rich.filesize import decimal

    largest = ", ".join(f"{name} {decimal(size)}" for name, size in space.tables.items())
    found = f"database {decimal(space.database)}" + (f" ({largest})" if largest else "")
    if space.free is None or space.total is None:
        return CheckResult(name="disk", status="ok", found=f"{found}; the server's free space is unknown here")
    found += f"; {decimal(space.free)} of {decimal(space.total)} free at {space.directory}"
    if not space.is_short:
        return CheckResult(name="disk", status="ok", found=found)
    todo = f"free or add space: {decimal(space.needed)} must be free, {decimal(space.log)} of them for Postgres's WAL"
    return CheckResult(name="disk", status="warn", found=found, todo=todo)


def _roles(conn: Connection[Any], session: CommandSession) -> Iterator[CheckResult]:
    missing = [row[0] for row in conn.execute(queries("doctor")["missing_roles"])]
    found = f"{conn.info.user} may not act as {', '.join(missing)}"
    if not missing:
        yield CheckResult(name="roles", status="ok", found="owner, worker, reader, analyst and eraser")
    elif set(missing) <= _SPARE.keys() and _revision(session) == known_revisions()[-1]:
        yield CheckResult(name="roles", status="warn", found=found, todo="; ".join(_SPARE[each] for each in missing))
    else:
        todo = "reverie migrate, as a user who may create roles; or, if they exist, grant them to this user"
        yield CheckResult(name="roles", status="fail", found=found, todo=todo)


def _revision(session: CommandSession) -> str | None:
    with connect(session.url, role="worker") as conn:
        return read_revision(conn)


def _migrations(session: CommandSession) -> Iterator[CheckResult]:
    revision = _revision(session)
    newest = known_revisions()[-1]
    if revision == newest:
        yield CheckResult(name="migrations", status="ok", found=f"at {revision}, the newest")
    elif revision is None or revision in known_revisions():
        found = f"at {revision}, the newest is {newest}" if revision else "none yet"
        yield CheckResult(name="migrations", status="fail", found=found, todo="reverie migrate")
    elif is_unreleased(revision):
        found = f"at {revision}, which is from before the first release"
        yield CheckResult(name="migrations", status="fail", found=found, todo=START_ANEW)
    else:
        found = f"at {revision}, which is newer than {newest}, the newest of this Reverie"
        yield CheckResult(name="migrations", status="fail", found=found, todo="upgrade Reverie")


def _isolation(conn: Connection[Any]) -> Iterator[CheckResult]:
    sql = queries("doctor")
    leaking, tables = conn.execute(sql["open_tables"]).fetchone() or ([], 0)
    if leaking:
        found = f"not forced on {', '.join(leaking)}"
        yield CheckResult(
            name="row security", status="fail", found=found, todo="alter table ... force row level security"
        )
    else:
        yield CheckResult(name="row security", status="ok", found=f"forced on all {tables} tables")
    indexes = [row[0] for row in conn.execute(sql["approximate_indexes"])]
    if indexes:
        found = f"{', '.join(indexes)}: recall may silently miss rows of a tenant"
        yield CheckResult(
            name="indexes", status="warn", found=found, todo="drop them; search within a subject is exact without them"
        )
    else:
        yield CheckResult(name="indexes", status="ok", found="no approximate index: recall is exact")


def _policies(names: set[str]) -> Iterator[CheckResult]:
    for name in sorted(names):
        policy = load_policy(name)
        yield CheckResult(name="policy", status="ok", found=f"{policy.name} {policy.hash}")


def _tenants(session: CommandSession, tenant: str | None) -> Iterator[CheckResult]:
    store = session.worker
    known = dict(store.tenants())
    if tenant is not None and tenant not in known:
        yield CheckResult(name="tenants", status="fail", found=f"there is no tenant {tenant}", todo="reverie import")
        return
    chosen = {tenant: known[tenant]} if tenant is not None else known
    for name in sorted({session.settings.policy, *chosen.values()}):
        yield from _guarded("policy", lambda name=name: _policies({name}))  # type: ignore[misc]
    yield from _guarded("queue", lambda: _queue(session, tenant))
    if not chosen:
        yield CheckResult(name="tenants", status="warn", found="none yet", todo="reverie import FILE")
    for tenant_id, policy_name in chosen.items():
        yield from _guarded(f"tenant {tenant_id}", lambda t=tenant_id, p=policy_name: _tenant(session, t, p))  # type: ignore[misc]


def _queue(session: CommandSession, tenant: str | None) -> Iterator[CheckResult]:
    minutes, sessions = overdue(session.worker, datetime.now(UTC), tenant)
    if minutes > LATE_MINUTES:
        found = f"{sessions:,} sessions are due, the oldest for {minutes / 60:,.1f} h"
        yield CheckResult(name="queue", status="warn", found=found, todo="reverie worker, or more of them")
    else:
        yield CheckResult(name="queue", status="ok", found=f"{sessions:,} sessions are due, none of them late")


def _tenant(session: CommandSession, tenant_id: str, policy_name: str) -> Iterator[CheckResult]:
    name, again = f"tenant {tenant_id}", f"reverie run --tenant {tenant_id}"
    policy = load_policy(policy_name)
    if stopped := read_clock(session.worker, tenant_id):
        found = f"its clock is stopped at {stopped:%Y-%m-%d %H:%M} UTC, so its memory does not advance (reverie clock)"
        yield CheckResult(name=name, status="ok", found=found)
    now = datetime.now(UTC)
    lag = lag_hours(session.worker, [Scope(tenant_id=tenant_id)], now)
    late = lag > LATE_CYCLES * policy.cycle.hours
    if lag:
        found = f"turns or candidates wait to be consolidated, the oldest for {lag:,.1f} h"
        yield CheckResult(name=name, status="warn" if late else "ok", found=found, todo=again)
    else:
        yield CheckResult(name=name, status="ok", found="nothing waits to be consolidated")
    missing = unembedded(session.worker, tenant_id, session.embedder.model, policy=policy, now=now)
    if missing:
        yield CheckResult(name=name, status="warn", found=f"{missing:,} turns or memories have no vector", todo=again)
    yield from _profiles(session, tenant_id, again)
    if subjects := late_subjects(
        Work(store=session.worker, scope=Scope(tenant_id=tenant_id), policy=policy, as_of=now)
    ):
        found = f"history of {len(subjects):,} subjects arrived late, after cycles had passed its time"
        yield CheckResult(name=name, status="warn", found=found, todo=f"reverie rebuild --late --tenant {tenant_id}")
    with session.worker.transaction(tenant_id) as conn:
        writers = conn.execute(queries("doctor")["writers"], {"tenant": tenant_id}).fetchall()
        (letters,) = conn.execute(queries("doctor")["letters"], {"tenant": tenant_id}).fetchone() or (0,)
        failures = count_failed_runs(conn, tenant_id)
        unread = conn.execute(queries("doctor")["unread"], {"tenant": tenant_id}).fetchall()
    if unread:
        reasons = ", ".join(f"{reason} {number:,}" for reason, number, _ in unread)
        found = f"turns wait for the language model: {reasons}; rules have read them"
        failed = any(is_failure for _, _, is_failure in unread)
        yield CheckResult(name=name, status="warn" if failed else "ok", found=found, todo=again if failed else "")
    if writers:
        by_writer = ", ".join(f"{number:,} worded by {model or 'rules'}" for model, number in writers)
        yield CheckResult(name=name, status="ok", found=f"patterns and summaries: {by_writer}")
    if letters:
        todo = f"reverie dead-letters list --tenant {tenant_id}"
        yield CheckResult(name=name, status="warn", found=f"{letters:,} dead letters", todo=todo)
    if failures:
        found = f"{failures:,} runs failed and were not repeated"
        yield CheckResult(
            name=name, status="warn", found=found, todo=f"reverie runs --tenant {tenant_id}, then {again}"
        )


def _profiles(session: CommandSession, tenant_id: str, again: str) -> Iterator[CheckResult]:
    name = f"tenant {tenant_id}"
    with session.worker.transaction(tenant_id) as conn:
        row = conn.execute(queries("doctor")["profiles"], {"tenant": tenant_id}).fetchone()
    events, failed, narratives = row or (0, 0, 0)
    writer = session.language_model.key if session.language_model else "rules"
    found = f"profiles by {writer}: {narratives:,} narratives by a model, {events:,} events waiting"
    if failed:
        found += f", a model failed on {failed:,} subjects"
    yield CheckResult(name=name, status="warn" if failed else "ok", found=found, todo=again if failed else "")
