"""The engine's clients as one Dagster resource: opened when a run begins, closed when it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import dagster as dg
from pydantic import PrivateAttr

from reverie.inference import Embedder, load_embedder
from reverie.settings import load_settings
from reverie.store.connect import database_url
from reverie.store.database import Store


@cache
def _embedder(name: str, threads: int) -> Embedder:
    # loading a model costs a second: once a process, not once a run
    return load_embedder(name, threads=threads)


class Clients(dg.ConfigurableResource):
    """Postgres and the embedding model, chosen by the environment (see `reverie doctor`)."""

    _store: Store = PrivateAttr()
    _embedder: Embedder = PrivateAttr()

    @property
    def store(self) -> Store:
        """The database, in the worker's role."""
        return self._store

    @property
    def embedder(self) -> Embedder:
        """The embedding model."""
        return self._embedder

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Clients]:
        """Open for one run."""
        settings = load_settings()
        self._embedder = _embedder(settings.embedding_model, settings.threads)
        with Store.open(database_url(settings)) as self._store:
            yield self
