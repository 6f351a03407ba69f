"""The engine's clients as one Dagster resource: opened when a run begins, closed when it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg
from pydantic import PrivateAttr

from resources.connections import embedding_model
from reverie.drive.maintain import Retention
from reverie.inference import Embedder
from reverie.inference.completions import LanguageModel
from reverie.inference.loading import language_model_of
from reverie.settings import load_settings
from reverie.store.address import database_url
from reverie.store.database import Store


class Clients(dg.ConfigurableResource):
    """Postgres and the models, chosen by the environment (see `reverie doctor`)."""

    _store: Store = PrivateAttr()
    _embedder: Embedder = PrivateAttr()
    _language_model: LanguageModel | None = PrivateAttr()
    _retention: Retention = PrivateAttr()

    @property
    def store(self) -> Store:
        """The database, in the worker's role."""
        return self._store

    @property
    def embedder(self) -> Embedder:
        """The embedding model."""
        return self._embedder

    @property
    def language_model(self) -> LanguageModel | None:
        """The language model; None: rules alone."""
        return self._language_model

    @property
    def retention(self) -> Retention:
        """How long rows are kept that no memory follows from."""
        return self._retention

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Clients]:
        """Open for one run."""
        settings = load_settings()
        self._embedder = embedding_model(settings.embedding_model, settings.threads)
        self._language_model = language_model_of(settings)
        self._retention = Retention.of(settings)
        with Store.open(database_url(settings)) as self._store:
            yield self
