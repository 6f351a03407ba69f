"""Work: what a stage run is given."""

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

#: Called with the name of a stage and how many more items it has done; 0 says that it is still at work.
Progress = Callable[[str, int], None]


def _silent(stage: str, number: int) -> None:
    """Report progress to nobody."""


class _NoEmbedder:
    """Stands where no embedding model was given."""

    def __getattr__(self, name: str) -> Never:
        if name.startswith("__"):  # of Python's own protocols, such as pickle's
            raise AttributeError(name)
        raise ValueError("this stage needs an embedder, and none was given")


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """Where a stage works, on what, by which numbers, up to when, and with which models.

    Time is an argument: `as_of` is the logical time of the run, aware, in UTC.
    """

    store: Store
    scope: Scope
    policy: Policy
    as_of: datetime
    #: Needed by the stages that embed or compare vectors.
    embedder: Embedder = field(default_factory=lambda: cast("Embedder", _NoEmbedder()))
    #: None: the rules alone.
    language_model: LanguageModel | None = None
    #: Who started the run, for the run ledger.
    driver: str = "reverie"
    #: Count what would be done, and write nothing. No language model is asked.
    dry_run: bool = False
    #: The store is a copy that is thrown away: other systems are told that the run is a dry one.
    is_rehearsal: bool = False
    #: Where calls to models are booked and replies kept, where that is not the store: a generation of a rebuild pays
    #: from the tenant's credit.
    books: Store | None = None
    progress: Progress = _silent

    def __post_init__(self) -> None:
        """Raise ValueError for a time without an offset."""
        object.__setattr__(self, "as_of", require_aware(self.as_of))

    @property
    def tenant_id(self) -> str:
        """Whose rows are worked on."""
        return self.scope.tenant_id

    @property
    def ledger_of_calls(self) -> Store:
        """Where calls to models are booked and their replies kept."""
        return self.books or self.store

    def params(self) -> dict[str, Any]:
        """Return the scope and the logical time as query parameters."""
        return self.scope.params() | {"as_of": self.as_of}

    @contextmanager
    def transaction(self) -> Iterator[Connection[Any]]:
        """Yield a connection in a transaction of the tenant."""
        with self.store.transaction(self.scope.tenant_id) as conn:
            yield conn
