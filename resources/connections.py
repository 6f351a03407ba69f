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
from reverie.store.tenants import read_policy_name


@contextmanager
def connected(model: str | None = None) -> Iterator[Runtime]:
    """Open the runtime, with the embedding model of the environment or the one given.

    Raises StageError, with only the type, for an error that is not ours: its message may contain a text of a
    conversation, and an orchestrator stores messages.
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


def policy_name_of(runtime: Runtime, tenant: str) -> str:
    """Return the name or path of a tenant's policy. Raises NotFoundError for an unknown tenant."""
    with runtime.worker.transaction(tenant) as conn:
        name = read_policy_name(conn, tenant)
    if name is None:
        raise NotFoundError(f"There is no tenant {tenant!r}.", unknown=("tenant", tenant))
    return name


#: Errors that a user must correct; a retry would fail in the same way.
MISTAKES = (InputError, NotFoundError, PolicyError, SettingsError)


def is_worth_a_retry(task: object, task_run: object, state: Any) -> bool:
    """Return whether Prefect should retry a failed task: not for a user's mistake, such as a missing file."""
    return not isinstance(state.result(raise_on_failure=False), MISTAKES)


@cache
def embedding_model(name: str, threads: int) -> Embedder:
    """Return the model. Loading takes a second, so it happens once per process."""
    return load_embedder(name, threads=threads)
