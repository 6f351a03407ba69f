"""The runtime as a Dagster resource: opened when a run begins, closed when it ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import dagster as dg
from pydantic import PrivateAttr

from resources.connections import embedding_model
from reverie.runtime import Runtime
from reverie.settings import load_settings
from reverie.store.database import Store


class Clients(dg.ConfigurableResource["Clients"]):
    """Postgres and the models that the environment selects (see `reverie doctor`)."""

    _runtime: Runtime = PrivateAttr()
    _failed: dict[str, str] = PrivateAttr(default_factory=dict)
    _begun: set[str] = PrivateAttr(default_factory=set)
    _seen: set[str] | None = PrivateAttr(default=None)

    @property
    def runtime(self) -> Runtime:
        """The open runtime."""
        return self._runtime

    @property
    def store(self) -> Store:
        """The database, in the worker's role."""
        return self._runtime.worker

    @property
    def failed(self) -> dict[str, str]:
        """The reasons, by tenant, for which steps of this run failed."""
        return self._failed

    @property
    def begun(self) -> set[str]:
        """The tenants whose cycles this run has begun."""
        return self._begun

    def see(self, tenants: Iterable[str]) -> None:
        """Note the tenants that existed when this run opened its cycles."""
        self._seen = (self._seen or set()).union(tenants)

    def is_new(self, tenant: str) -> bool:
        """Return whether a tenant was created after this run opened its cycles; False if the run opened none."""
        return self._seen is not None and tenant not in self._seen

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Clients]:
        """Open the runtime for one run."""
        settings = load_settings()
        self._failed, self._begun, self._seen = {}, set(), None
        with Runtime(settings) as self._runtime:
            self._runtime.embedder = embedding_model(settings.embedding_model, settings.threads)
            self._runtime.connect()
            yield self
