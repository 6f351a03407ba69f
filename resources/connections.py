"""The runtime, opened for as long as a task runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from reverie.errors import InputError, NotFoundError, PolicyError, ReverieError, SettingsError, StageError
from reverie.inference import Embedder
from reverie.inference.loading import load_embedder
from reverie.runtime import Runtime
from reverie.settings import load_settings
from reverie.store.connect import database_errors


@contextmanager
def connected(model: str | None = None) -> Iterator[Runtime]:
    """Open the runtime, with the embedding model of the environment or another one.

    An error that is not ours leaves as a StageError with its kind alone: its message may hold what somebody said, and
    an orchestrator keeps messages.
    """
    try:
        with database_errors():
            settings = load_settings()
            with Runtime(settings) as runtime:
                runtime.embedder = embedding_model(model or settings.embedding_model, settings.threads)
                runtime.connect()
                yield runtime
    except ReverieError:
        raise
    except Exception as error:
        raise StageError(f"The work was interrupted by {type(error).__name__}.") from None


#: What a user must put right: another attempt fails in the same way.
MISTAKES = (InputError, NotFoundError, PolicyError, SettingsError)


def is_worth_a_retry(task: object, task_run: object, state: Any) -> bool:
    """Return whether Prefect should retry a failed task: not for a user's mistake, such as a missing file."""
    return not isinstance(state.result(raise_on_failure=False), MISTAKES)


@cache
def embedding_model(name: str, threads: int) -> Embedder:
    """Return the model, loaded once a process: it costs a second."""
    return load_embedder(name, threads=threads)
