"""The session of one command: the runtime, and the tenant and policy of the command line."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from reverie.cli.suggestions import similar
from reverie.errors import NotFoundError, ReverieError
from reverie.runtime import Runtime

if TYPE_CHECKING:
    from reverie.inference.completions import LanguageModel
    from reverie.inference.embedder import Embedder
    from reverie.inference.reranker import Reranker
    from reverie.model import Scope
    from reverie.policy import Policy
    from reverie.settings import Settings
    from reverie.store.database import Store
    from reverie.store.work import Work


#: Subjects that a name is compared with, on either side of it in the order of names; each is a step of an index.
_NEIGHBOURS = 500


def _is_priced(embedder: Embedder | None) -> bool:
    return embedder is not None and bool(embedder.price_per_token)


class CommandSession:
    """Settings, database, policy and embedder of one command for one tenant."""

    def __init__(self, tenant: str | None = None, policy: str | None = None, *, runtime: Runtime | None = None) -> None:
        """Take the options of the command line, which override the tenant's own choice and the environment."""
        self._tenant = tenant
        self._policy = policy
        # most commands need one connection at a time
        self.runtime = runtime or Runtime(connections=1)

    @property
    def settings(self) -> Settings:
        """The settings of the environment."""
        return self.runtime.settings

    @property
    def connections(self) -> int:
        """The most connections that may be open at once; set it before the database is first used."""
        return self.runtime.connections

    @connections.setter
    def connections(self, number: int) -> None:
        self.runtime.connections = number

    @property
    def url(self) -> str:
        """DATABASE_URL, or the URL of the embedded server, which is started if necessary."""
        return self.runtime.url

    @property
    def worker(self) -> Store:
        """The database, for writing."""
        return self.runtime.worker

    @property
    def reader(self) -> Store:
        """The database, for reading: its replica, if the settings name one."""
        return self.runtime.reader

    @property
    def primary_reader(self) -> Store:
        """The primary, to read the latest writes and to log answers."""
        return self.runtime.primary_reader

    @property
    def embedder(self) -> Embedder:
        """The embedding model of the settings, loaded."""
        return self.runtime.embedder

    @property
    def reranker(self) -> Reranker | None:
        """The cross-encoder of the settings, if they name one; not loaded yet."""
        return self.runtime.reranker

    def asking(self, embedder: Embedder | None) -> Store:
        """Return the database for a question: `worker` if the cost of its embedding must be recorded, else `reader`."""
        return self.worker if _is_priced(embedder) else self.reader

    def asking_notes(self, embedder: Embedder | None) -> tuple[str, ...]:
        """Return notes on the age of an answer from `asking`."""
        return () if _is_priced(embedder) else self.runtime.read_notes()

    @property
    def language_model(self) -> LanguageModel | None:
        """The language model of the settings, if they name one."""
        return self.runtime.language_model

    @property
    def tenant_id(self) -> str:
        """The tenant of the command."""
        return self._tenant or self.settings.tenant

    def knows_subject(self, subject_id: str) -> bool:
        """Return whether anything was said by or about a subject of this name."""
        from reverie.recall.roster import knows_subject

        return knows_subject(self.worker, self.tenant_id, subject_id)

    @cached_property
    def tenant_policy(self) -> str | None:
        """Name or path of the policy that the tenant chose; None if the tenant is not known yet."""
        from reverie.store.tenants import read_policy_name

        with self.runtime.opened.transaction(self.tenant_id) as conn:
            return read_policy_name(conn, self.tenant_id)

    @property
    def policy_name(self) -> str:
        """The policy given on the command line, else the tenant's, else that of the environment for new tenants."""
        return self._policy or self.tenant_policy or self.settings.policy

    @property
    def new_tenant_policy(self) -> str:
        """The policy of a tenant that is not known yet: that of the environment, as `policy_reference` returns it."""
        from reverie.policy import policy_reference

        return policy_reference(self.settings.policy)

    @cached_property
    def policy(self) -> Policy:
        """The policy of the command, loaded."""
        from reverie.policy import load_policy

        return load_policy(self.policy_name)

    def time(self, given: datetime | None) -> datetime:
        """Return the time given on the command line, else now by the tenant's clock, which may be stopped.

        Commands read the wall clock here and nowhere below.
        """
        from reverie.store.clock import tenant_time

        return given or tenant_time(self.runtime.opened, self.tenant_id, datetime.now(UTC))

    def scope(self) -> Scope:
        """Return the scope of the whole tenant."""
        from reverie.model import Scope

        return Scope(tenant_id=self.tenant_id)

    def work(self, as_of: datetime, scope: Scope | None = None, **options: Any) -> Work:
        """Return the work of a driver, with every model; `options` as for `Runtime.work`."""
        return self.runtime.work(scope or self.scope(), self.policy, as_of, **options)

    def require_tenant(self) -> None:
        """Raise NotFoundError if nothing was ever imported for the tenant."""
        if self.tenant_policy is None:
            raise NotFoundError(
                f"There is no tenant {self.tenant_id!r}: import something for it, or give --tenant.",
                unknown=("tenant", self.tenant_id),
            )

    def for_tenant(self, tenant_id: str) -> CommandSession:
        """Return a session of another tenant with the same --policy and runtime; this session closes the runtime."""
        return CommandSession(tenant_id, self._policy, runtime=self.runtime)

    def similar(self, noun: str, name: str) -> list[str]:
        """Return tenants or subjects (`noun`) whose names resemble one that does not exist."""
        if noun == "tenant":
            return similar(name, [tenant for tenant, _ in self.worker.tenants()])
        if noun != "subject":
            return []
        from reverie.recall.roster import subjects_around

        return similar(name, subjects_around(self.reader, self.tenant_id, name, limit=_NEIGHBOURS))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if isinstance(error, ReverieError) and error.unknown:
                with suppress(Exception):  # the first error is the one to show
                    error.similar = self.similar(*error.unknown)
        finally:
            self.runtime.close()
