"""The composition root: each part is made from the settings when it is first needed, and closed at the end.

The command line, Dagster and Prefect open a `Runtime`; the API, which runs on asyncio, makes its own pools from the
same parts.
"""

from __future__ import annotations

from contextlib import ExitStack
from datetime import datetime
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic import SecretStr

    from reverie.drive.erase.erasing import Eraser
    from reverie.drive.maintain import Retention
    from reverie.inference.completions import LanguageModel
    from reverie.inference.embedder import Embedder
    from reverie.inference.reranker import Reranker
    from reverie.model import Scope
    from reverie.policy import Policy
    from reverie.settings import Settings
    from reverie.store.database import Store
    from reverie.store.runs import Report
    from reverie.store.server.replica import ServerPosition
    from reverie.store.work import Progress, Work


class Runtime:
    """The database in both roles and the models, as the environment sets them (see `reverie doctor`)."""

    def __init__(self, settings: Settings | None = None, *, connections: int = 4) -> None:
        """Open nothing yet. `settings`: None reads the environment; `connections`: most open at once, in each role."""
        self._closing = ExitStack()
        self.connections = connections
        if settings is not None:
            self.__dict__["settings"] = settings

    @cached_property
    def settings(self) -> Settings:
        """The settings of the environment, unless others were passed."""
        from reverie.settings import load_settings

        return load_settings()

    @cached_property
    def url(self) -> str:
        """DATABASE_URL, or the URL of the embedded server, which is started if necessary."""
        from reverie.store.server.address import database_url

        return database_url(self.settings)

    @cached_property
    def worker(self) -> Store:
        """The database in the worker's role, which may write."""
        return self._open("worker")

    @cached_property
    def reader(self) -> Store:
        """The database in the reader's role: the replica, if the settings name one."""
        return self.primary_reader if self.settings.read_url is None else self._open_replica(self.settings.read_url)

    @cached_property
    def primary_reader(self) -> Store:
        """The primary in the reader's role, to read the latest writes and to log answers."""
        return self._open("reader")

    @property
    def opened(self) -> Store:
        """The primary in whichever role is open already, so that a lookup opens no second pool."""
        return self.worker if "worker" in self.__dict__ else self.primary_reader

    def read_notes(self) -> tuple[str, ...]:
        """Return notes on the age of an answer from `reader`. Without a replica, return none and query nothing."""
        if self.settings.read_url is None:
            return ()
        from reverie.store.server.replica import lag_notes

        return lag_notes(self.replica_lag(), limit=self.settings.read_lag_seconds)

    def replica_lag(self) -> float | None:
        """Return the most seconds that `reader` may be behind the primary; None if unknown."""
        from reverie.store.server.replica import seconds_behind

        return seconds_behind(*self._positions(self.reader))

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model, loaded."""
        from reverie.inference.loading import load_embedder

        return load_embedder(self.settings.embedding_model, threads=self.settings.threads)

    @cached_property
    def reranker(self) -> Reranker | None:
        """The cross-encoder, if the settings name one; not loaded yet."""
        from reverie.inference.loading import load_reranker

        return load_reranker(self.settings.reranker)

    @cached_property
    def language_model(self) -> LanguageModel | None:
        """The language model, if the settings name one; None means rules alone."""
        from reverie.inference.loading import language_model_of

        return language_model_of(self.settings)

    @property
    def retention(self) -> Retention:
        """The retention of rows that no memory depends on."""
        from reverie.drive.maintain import Retention

        return Retention.of(self.settings)

    def tenant_eraser(self, tenant_id: str, policy: Policy, at: datetime, *, actor: str | None = None) -> Eraser:
        """Return the eraser of a tenant. `at`: the time by the clock; `actor`: the person who asks."""
        from reverie.drive.erase.erasing import Eraser

        return Eraser(
            store=self.worker,
            tenant_id=tenant_id,
            policy=policy,
            count_tokens=lambda text: self.embedder.count_tokens(text),  # loads the model only for a long text
            at=at,
            actor=actor,
        )

    def work(self, scope: Scope, policy: Policy, as_of: datetime, **options: Any) -> Work:
        """Return the work of a stage or driver, with every model; `options`: driver, dry_run, progress."""
        from reverie.store.work import Work

        return Work(
            store=self.worker,
            scope=scope,
            policy=policy,
            as_of=as_of,
            embedder=self.embedder,
            language_model=self.language_model,
            **options,
        )

    def connect(self) -> None:
        """Open the database in the worker's role now, so that its errors are raised before any work begins."""
        _ = self.worker

    def close(self) -> None:
        """Close the connections."""
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self, role: Literal["worker", "reader"]) -> Store:
        from reverie.store.database import Store

        if role == "worker":  # a process that writes also runs stages and calls models
            from reverie.consolidate.stages import stage_tables
            from reverie.telemetry.starting import start_lineage, start_tracing

            start_tracing()
            start_lineage(self.url, stage_tables())
        return self._closing.enter_context(Store.open(self.url, role=role, size=self.connections))

    def _open_replica(self, url: SecretStr) -> Store:
        from reverie.store.database import Store
        from reverie.store.server.replica import replica_errors, require_replica

        _ = self.primary_reader  # opened first, so that its errors are not taken for the replica's
        with replica_errors():
            store = Store.open(url.get_secret_value(), role="reader", size=self.connections)
            self._closing.enter_context(store)
            require_replica(*self._positions(store))
        return store

    def _positions(self, replica: Store) -> list[ServerPosition]:
        """Return the positions of the primary and of the replica, in this order."""
        from reverie.store.server.replica import NO_TENANT, read_position
        from reverie.store.session import perform

        return [perform(read_position(store.session(NO_TENANT))) for store in (self.primary_reader, replica)]


def open_bucket_work(
    settings: Settings, policy: Policy, as_of: datetime, drive: Callable[[Work], Iterator[Report]]
) -> Callable[[Scope, Progress], Iterator[Report]]:
    """Open a runtime in a worker process, and return the function that drives one bucket up to `as_of` there.

    `drive` is `advance`, or a part of it. The database and the models stay open until the process ends.
    """
    runtime = Runtime(settings, connections=1)
    runtime.connect()

    def work(bucket: Scope, progress: Progress) -> Iterator[Report]:
        yield from drive(runtime.work(bucket, policy, as_of, progress=progress))

    return work
