"""Helpers for tests of programs that use Reverie: databases, models without a download, and made-up conversations.

Nothing here imports a test framework. `database` needs the extra `embedded`, or a server named by
REVERIE_TEST_DATABASE_URL. See docs/testing.md.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import orjson
import psycopg
from psycopg.sql import SQL, Identifier

from reverie.capture.append import insert_turns
from reverie.drive.advance import advance
from reverie.errors import DatabaseError
from reverie.inference.completions import CallError, Completion, LanguageModel, Limits
from reverie.inference.embedder import Embedder, Vectors
from reverie.inference.prompts import Messages
from reverie.inference.recorded import asked_items
from reverie.model import Role, Scope, Turn
from reverie.policy import Policy, load_policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.migrate import migrate
from reverie.store.runs import Report
from reverie.store.server.beside import database_name_of, url_beside
from reverie.store.server.embedded import EmbeddedPostgres
from reverie.store.tenants import ensure_tenant
from reverie.store.work import Work

#: A function that returns the reply to one item of a request, or None. Arguments: the name of the reply's type, such as
#: `Claims`, and the item as the model reads it.
Script = Callable[[str, dict[str, Any]], dict[str, Any] | None]

#: Variable with the URL of a server to use instead of an embedded one; its user may create databases and roles.
SERVER_VARIABLE = "REVERIE_TEST_DATABASE_URL"
#: Free bytes that a file system in memory must have to hold the embedded server's data.
_NEEDED_MEMORY = 4 << 30


class DatabaseFactory:
    """A factory of test databases on one server; each is a copy of a template that is migrated once.

    Any number of processes may use the same server and prefix at the same time.
    """

    def __init__(self, server_url: str, *, prefix: str = "reverie_test") -> None:
        """Use the server at `server_url`, whose user may create databases and roles; `prefix` begins every name."""
        self._server_url = server_url
        self._prefix = prefix

    @cached_property
    def template(self) -> str:
        """The name of the migrated, empty database that `migrated` copies; created on first use."""
        return self._prepared("template", migrate, "template1")

    def prepared(self, name: str, make: Callable[[str], object], *, template: str | None = None) -> str:
        """Return the name of a database to copy, made once for all processes.

        Args:
            name: The name of its content. Other content needs another name.
            make: Fills the database, given its URL. Other processes that ask for the same name wait meanwhile.
            template: The database that it is first copied from; the migrated, empty one by default.
        """
        return self._prepared(name, make, template or self.template)

    def _prepared(self, name: str, make: Callable[[str], object], template: str) -> str:
        name = f"{self._prefix}_{name}"
        with connect(self._server_url) as admin:
            admin.execute("select pg_advisory_lock(hashtext(%s))", [name])
            if admin.execute("select from pg_database where datname = %s", [name]).fetchone() is None:
                url = self._create(admin, template)
                make(url)
                _disconnect(admin, database_name(url))
                admin.execute(
                    SQL("alter database {} rename to {}").format(Identifier(database_name(url)), Identifier(name))
                )
        return name

    @contextmanager
    def migrated(self) -> Iterator[str]:
        """Create a migrated, empty database, yield its URL, and drop it."""
        with self.copy(self.template) as url:
            yield url

    @contextmanager
    def empty(self) -> Iterator[str]:
        """Create a database without a schema, yield its URL, and drop it."""
        with self.copy("template1") as url:
            yield url

    @contextmanager
    def copy(self, template: str) -> Iterator[str]:
        """Create a copy of the database `template`, to which nobody may be connected, yield its URL, and drop it."""
        with _admin(self._server_url) as admin:
            url = self._create(admin, template)
        try:
            yield url
        finally:
            with _admin(self._server_url) as admin:
                _drop(admin, database_name(url))

    def _create(self, admin: psycopg.Connection[Any], template: str) -> str:
        name = f"{self._prefix}_{uuid4().hex[:12]}"
        # copying files halves the cost, but waits for a checkpoint if fsync is on
        (waits,) = admin.execute("select current_setting('fsync')::boolean").fetchone() or (True,)
        statement = "create database {} template {} strategy {}"
        strategy = "wal_log" if waits else "file_copy"
        admin.execute(SQL(statement).format(Identifier(name), Identifier(template), Identifier(strategy)))
        return url_beside(self._server_url, name)


#: Idle connections by process and server. Opening one per database would take a third of the database's cost.
_idle: defaultdict[tuple[int, str], list[psycopg.Connection[Any]]] = defaultdict(list)


@contextmanager
def _admin(server_url: str) -> Iterator[psycopg.Connection[Any]]:
    """Lend a connection to the server to one thread; it stays open until the process exits."""
    idle = _idle[os.getpid(), server_url]
    try:
        admin = idle.pop()
        admin.execute("")  # the server may have been restarted
    except (IndexError, psycopg.OperationalError):
        admin = connect(server_url)
        atexit.register(admin.close)
    yield admin
    idle.append(admin)


def _drop(admin: psycopg.Connection[Any], name: str) -> None:
    """Drop a database and end its connections."""
    _disconnect(admin, name)
    admin.execute(SQL("drop database {} with (force)").format(Identifier(name)))


def _disconnect(admin: psycopg.Connection[Any], name: str) -> None:
    """End the connections to a database, and wait until they are gone.

    `drop database ... with (force)` sleeps for 100 ms when it finds a server process, even one whose client has just
    closed its connection. Most tests would wait for that, so this function waits for the processes in shorter steps.
    """
    ending = "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s"
    for _ in range(50):
        busy = admin.execute(ending, [name]).fetchone() is not None
        time.sleep(0.001)  # a process leaves the list a moment before it is gone
        if not busy:
            break


@contextmanager
def database() -> Iterator[str]:
    """Create a migrated, empty database, yield its URL, and drop it.

    The embedded Postgres starts on first use, which takes some seconds, and stops when the process exits.
    """
    with _databases().migrated() as url:
        yield url


def fast_directory() -> Path:
    """Return a file system in memory if there is one with enough room, else the directory for temporary files."""
    memory = Path("/dev/shm")
    has_room = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _NEEDED_MEMORY
    return memory if has_room else Path(tempfile.gettempdir())


@cache
def _databases() -> DatabaseFactory:
    if url := os.environ.get(SERVER_VARIABLE):
        databases = DatabaseFactory(url, prefix=f"reverie_test_{uuid4().hex[:8]}")
        atexit.register(_drop_template, url, databases)
        return databases
    directory = Path(tempfile.mkdtemp(prefix="reverie_testing_", dir=fast_directory()))
    directory.chmod(0o711)  # when root starts the server, it runs as another user
    server = EmbeddedPostgres(directory / "postgres", durable=False)

    def stop() -> None:
        server.stop()
        shutil.rmtree(directory, ignore_errors=True)

    atexit.register(stop)
    server.start()
    return DatabaseFactory(server.url("postgres"))


def _drop_template(server_url: str, databases: DatabaseFactory) -> None:
    """Drop the template, if the server can still be reached: no other process uses the prefix."""
    if "template" in vars(databases):
        with suppress(DatabaseError, psycopg.Error), connect(server_url) as admin:
            _drop(admin, databases.template)


def database_name(url: str) -> str:
    """Return the name of the database in a URL."""
    return database_name_of(url)


class WordEmbedder:
    """An embedder without a model: texts that share words are similar.

    The vector of a text is the normalized sum of one pseudo-random vector per word, so it is deterministic.
    """

    #: The key under which vectors are stored; a subclass may set another.
    model = "words"
    dimensions = 96
    price_per_token = 0.0

    def __init__(self, model: str | None = None) -> None:
        """Store the vectors under another key, if `model` is given."""
        if model is not None:
            self.model = model

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text. The same text gives the same bits whatever texts it is embedded with."""
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        return np.stack([self._vector(text) for text in texts])

    def count_tokens(self, text: str) -> int:
        """Return the number of words."""
        return len(text.split())

    def _vector(self, text: str) -> Vectors:
        words = re.findall(r"\w+", text.casefold()) or [text]
        total = np.sum([_word_vector(word, self.dimensions) for word in words], axis=0, dtype=np.float64)
        vector: Vectors = np.asarray(total / np.linalg.norm(total), np.float32)
        return vector


@cache
def _word_vector(word: str, dimensions: int) -> npt.NDArray[np.float64]:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(dimensions)


@dataclass(kw_only=True)
class ScriptedLanguageModel:
    """A language model that answers from a function and keeps its requests. It costs nothing."""

    script: Script
    key: str = "scripted"
    limits: Limits = field(default_factory=lambda: Limits(attempts=1, repeats=0))
    #: The type of the reply and the item of each request, in order.
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def complete(self, messages: Messages, *, schema: dict[str, Any], max_tokens: int) -> Completion:
        """Answer the items of one request. Raises CallError if the script has no reply to any of them."""
        shape, replies = schema["title"], []
        for number, item in asked_items(messages):
            self.requests.append((shape, item))
            if (reply := self.script(shape, item)) is not None:
                replies.append({"number": number} | reply)
        if not replies:
            raise CallError(f"The script has no reply of type {shape} to this request.", reason="unrecorded")
        text = orjson.dumps({"replies": replies}).decode()
        return Completion(text=text, truncated=False, tokens_in=100, tokens_out=20, cost_usd=0.0, seconds=0.0)

    def most_usd(self, messages: Messages, *, max_tokens: int) -> float:
        """Return 0: a request is free."""
        return 0.0

    def warm(self) -> None:
        """Do nothing: there is nothing to load."""


def conversation(
    *texts: str | tuple[Role, str],
    tenant_id: str = "test",
    subject_id: str = "ana",
    session_id: str = "session-1",
    start: datetime = datetime(2026, 3, 1, 9, tzinfo=UTC),
) -> list[Turn]:
    """Return the turns of one session, a minute apart. A text alone is the user's; `(role, text)` sets another role."""
    pairs = [("user", text) if isinstance(text, str) else text for text in texts]
    return [
        Turn(
            tenant_id=tenant_id,
            subject_id=subject_id,
            session_id=session_id,
            source_id=f"turn-{number}",
            role=role,  # type: ignore[arg-type]
            speaker=None,
            said_at=start + timedelta(minutes=number),
            text=text,
        )
        for number, (role, text) in enumerate(pairs)
    ]


def remember(
    store: Store,
    turns: Sequence[Turn],
    *,
    until: datetime | None = None,
    policy: Policy | None = None,
    embedder: Embedder | None = None,
    language_model: LanguageModel | None = None,
) -> list[Report]:
    """Append the turns of one tenant to the log, and run every stage as `reverie run` does. Return the reports.

    Args:
        store: The database.
        turns: The turns, all of one tenant.
        until: The logical time of the run; a day after the last turn by default.
        policy: The policy; the shipped `reverie` by default.
        embedder: The embedder; `WordEmbedder` by default.
        language_model: The language model; rules alone by default.
    """
    policy, tenant_id = policy or load_policy("reverie"), turns[0].tenant_id
    until = until or max(turn.said_at for turn in turns) + timedelta(days=1)
    with store.transaction(tenant_id) as conn:
        ensure_tenant(conn, tenant_id, policy.name)
        insert_turns(conn, tenant_id, turns)
    work = Work(
        store=store,
        scope=Scope(tenant_id=tenant_id),
        policy=policy,
        as_of=until,
        embedder=embedder or WordEmbedder(),
        language_model=language_model,
    )
    return list(advance(work))
