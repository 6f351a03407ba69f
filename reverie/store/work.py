"""The input of a stage run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Never, cast

from psycopg import Connection

from reverie.model import Scope, require_aware
from reverie.policy import Policy
from reverie.store.database import Store

if TYPE_CHECKING:
    from reverie.inference import Embedder
    from reverie.inference.completions import LanguageModel

#: Called with the name of a stage and the number of items it did since; 0 reports that it is still at work.
Progress = Callable[[str, int], None]


def _silent(stage: str, number: int) -> None:
    """Ignore progress."""


class _NoEmbedder:
    """The default of `Work.embedder`; any use of it raises ValueError."""

    def __getattr__(self, name: str) -> Never:
        if name.startswith("__"):  # Python's own protocols, such as pickle's
            raise AttributeError(name)
        raise ValueError("this stage needs an embedder, and none was given")


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """The database, scope, policy, logical time and models of a stage run.

    Time is an argument: `as_of` is the logical time of the run, aware, in UTC.
    """

    store: Store
    scope: Scope
    policy: Policy
    as_of: datetime
    #: Required by the stages that embed or compare vectors.
    embedder: Embedder = field(default_factory=lambda: cast("Embedder", _NoEmbedder()))
    #: None: the rules alone.
    language_model: LanguageModel | None = None
    #: The program that started the run, for the run ledger.
    driver: str = "reverie"
    #: Count what would be done, and write nothing. No language model is called.
    dry_run: bool = False
    #: The store is a copy that is thrown away; telemetry reports the run as a dry run.
    is_rehearsal: bool = False
    #: The store that books calls to models and keeps their replies, if it is another one: a generation of a rebuild
    #: spends the tenant's credit.
    books: Store | None = None
    progress: Progress = _silent

    def __post_init__(self) -> None:
        """Raise ValueError for a time without an offset."""
        object.__setattr__(self, "as_of", require_aware(self.as_of))

    @property
    def tenant_id(self) -> str:
        """The tenant of the scope."""
        return self.scope.tenant_id

    @property
    def ledger_of_calls(self) -> Store:
        """The store that books calls to models and keeps their replies."""
        return self.books or self.store

    def params(self) -> dict[str, Any]:
        """Return the scope and the logical time as query parameters."""
        return self.scope.params() | {"as_of": self.as_of}

    @contextmanager
    def transaction(self) -> Iterator[Connection[Any]]:
        """Yield a connection in a transaction of the tenant."""
        with self.store.transaction(self.scope.tenant_id) as conn:
            yield conn
