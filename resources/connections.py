"""The engine's parts, opened for as long as a task runs; what Dagster's `Clients` holds, for everybody else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from reverie.errors import ReverieError, StageError
from reverie.inference import Embedder, load_embedder
from reverie.inference.completions import LanguageModel
from reverie.inference.loading import language_model_of
from reverie.settings import Settings, load_settings
from reverie.store.address import database_url
from reverie.store.connect import database_errors
from reverie.store.database import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Connected:
    """What the environment chose (see `reverie doctor`)."""

    settings: Settings
    store: Store
    embedder: Embedder
    #: None: rules alone.
    language_model: LanguageModel | None


@contextmanager
def connected(model: str | None = None) -> Iterator[Connected]:
    """Open the database in the worker's role and the embedding model, by default that of the environment.

    An error that is not ours leaves as a StageError with its kind alone: its message may hold what somebody said, and
    an orchestrator keeps messages.
    """
    try:
        with database_errors():
            settings = load_settings()
            embedder = embedding_model(model or settings.embedding_model, settings.threads)
            with Store.open(database_url(settings)) as store:
                yield Connected(
                    settings=settings, store=store, embedder=embedder, language_model=language_model_of(settings)
                )
    except ReverieError:
        raise
    except Exception as error:
        raise StageError(f"The work was broken off by {type(error).__name__}.") from None


@cache
def embedding_model(name: str, threads: int) -> Embedder:
    """Return the model, loaded once a process: it costs a second."""
    return load_embedder(name, threads=threads)
