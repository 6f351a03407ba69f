"""The generations of a tenant: rows of `ops.generations` in the live database, and their databases."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from psycopg.rows import class_row

from reverie.errors import ConflictError, InputError, NotFoundError
from reverie.inference import Embedder
from reverie.policy import Policy
from reverie.recall.filters import Source
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.migrate import migrate
from reverie.store.queries import queries
from reverie.store.revisions import known_revisions, read_revision
from reverie.store.server.beside import database_name_of, drop_beside, name_beside, url_beside
from reverie.store.work import Work

GenerationState = Literal["building", "ready", "published", "reverted", "dropped"]


#: States of a generation whose memory is complete.
COMPLETE: tuple[GenerationState, ...] = ("ready", "published", "reverted")
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveMemory:
    """The memory from which recall answers."""

    #: Work with its tenant, policy, models and logical time.
    work: Work
    #: URL of its database, for a user that may create databases.
    url: str
    #: Buckets processed in parallel.
    jobs: int = 1

    @property
    def tenant_id(self) -> str:
        """Id of the tenant."""
        return self.work.tenant_id


@dataclass(frozen=True, kw_only=True, slots=True)
class GenerationPlan:
    """The policy, model and sources of a generation to make."""

    #: Name or path of the policy, as stored with a tenant.
    policy_name: str
    policy: Policy
    #: Name of the embedding model, as in REVERIE_EMBEDDING_MODEL.
    embedder_name: str
    embedder: Embedder
    #: Source whose turns and events are left out; such a generation can be compared but not published.
    without_source: str | None = None

    def __post_init__(self) -> None:
        """Raise InputError for a source that no turn can have."""
        if self.without_source not in (None, *get_args(Source)):
            raise InputError(
                f"There is no source {self.without_source!r}; choose one of {', '.join(get_args(Source))}."
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class Generation:
    """A row of `ops.generations`."""

    number: int
    database: str
    state: GenerationState
    policy: str
    policy_hash: str
    model: str
    embedder: str
    without_source: str | None
    as_of: datetime
    turns: int | None
    memories: int | None
    sha256: str | None
    seconds: float
    made_at: datetime
    published_at: datetime | None
    kept_until: datetime | None
    replaced_policy: str | None
    replaced_model: str | None
    lock_seconds: float | None

    def flat(self) -> dict[str, Any]:
        """Return the row by column name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def list_generations(store: Store, tenant_id: str) -> list[Generation]:
    """Return the generations of a tenant, including dropped ones, the latest first."""
    with store.transaction(tenant_id) as conn:
        cursor = conn.cursor(row_factory=class_row(Generation))
        return cursor.execute(queries("generations")["list_generations"], {"tenant": tenant_id}).fetchall()


def find_generation(store: Store, tenant_id: str, number: int | None, *states: GenerationState) -> Generation:
    """Return a generation by its number, or the latest (None), that is in one of these states.

    The latest is that which was published or reverted last; if none was, that with the highest number.

    Raises:
        NotFoundError: there is no such generation.
        InputError: the generation is in another state.
    """
    known = sorted(list_generations(store, tenant_id), key=lambda each: each.published_at or _NEVER, reverse=True)
    named = [each for each in known if each.number == number] if number else [e for e in known if e.state in states]
    if not named:
        which = f"no generation {number}" if number else f"no generation that is {' or '.join(states)}"
        raise NotFoundError(f"Tenant {tenant_id} has {which}; `reverie generations` lists them.")
    found = named[0]
    if found.state not in states:
        raise InputError(f"Generation {found.number} is {found.state}, and must be {' or '.join(states)} for this.")
    return found


def find_publishable(store: Store, tenant_id: str) -> Generation:
    """Return the latest ready generation, or the live one if none was built since: its publication may be incomplete.

    A ready generation that is older than the one published last does not count, whatever became of that: a repeated
    publish must not go back to it.

    Raises NotFoundError if there is none.
    """
    known = list_generations(store, tenant_id)
    last = max(known, key=lambda each: each.published_at or _NEVER, default=None)
    newest = last.number if last and last.published_at else 0
    for each in known:
        if (each.state == "ready" and each.number > newest) or (each is last and each.state == "published"):
            return each
    since = f" and was built after generation {newest}, which was published last" if newest else ""
    raise NotFoundError(f"Tenant {tenant_id} has no generation that is ready{since}; `reverie generations` lists them.")


def add_generation(live: LiveMemory, plan: GenerationPlan) -> Generation:
    """Add the row of a new generation, before it is begun."""
    sql, tenant_id = queries("generations"), live.tenant_id
    with live.work.store.transaction(tenant_id) as conn:
        (number,) = conn.execute(sql["next_number"], {"tenant": tenant_id}).fetchone() or (1,)
        params = {
            "tenant": tenant_id,
            "number": number,
            "database": _database_of(live.url, tenant_id, number),
            "policy": plan.policy_name,
            "policy_hash": plan.policy.hash,
            "model": plan.embedder.model,
            "embedder": plan.embedder_name,
            "without_source": plan.without_source,
            "as_of": live.work.as_of,
        }
        conn.execute(sql["add_generation"], params)
    return find_generation(live.work.store, tenant_id, number, "building")


def _database_of(url: str, tenant_id: str, number: int) -> str:
    """Return a generation's database name: the live database's, a hash of that and the tenant, and the number."""
    mark = hashlib.sha256(f"{database_name_of(url)}/{tenant_id}".encode()).hexdigest()[:8]
    return name_beside(url, f"_gen_{mark}_{number}")


@contextmanager
def opened(live: LiveMemory, generation: Generation) -> Iterator[Store]:
    """Open the database of a generation. If it was never published, it is migrated to the current schema first.

    A schema so old that the worker may not read its revision is not migrated.

    Raises:
        ConflictError: it was published by an older Reverie, whose schema the replaced memory has.
        DatabaseError: it is gone, a newer Reverie migrated it, or the errors of `migrate`.
    """
    url = url_beside(live.url, generation.database)
    with connect(url, role="worker") as conn:
        is_old = read_revision(conn) in known_revisions()[:-1]
    if is_old and generation.published_at is not None:
        raise ConflictError(
            f"Generation {generation.number} was published by an older Reverie and can no longer be used: drop it with "
            f"`reverie generations --drop {generation.number}`, and build another with `reverie rebuild --shadow`."
        )
    if is_old:
        migrate(url)
    with Store.open(url, size=live.jobs + 1) as store:
        yield store


def drop_generation(live: LiveMemory, generation: Generation) -> None:
    """Drop a generation with its database; a published one can no longer be reverted. Raises DatabaseError."""
    drop_beside(live.url, generation.database)
    with live.work.store.transaction(live.tenant_id) as conn:
        params = {"tenant": live.tenant_id, "number": generation.number}
        conn.execute(queries("generations")["drop_generation"], params)


def drop_ended(live: LiveMemory, now: datetime) -> list[int]:
    """Drop the generations that were kept until before `now`; return their numbers."""
    with live.work.store.transaction(live.tenant_id) as conn:
        params = {"tenant": live.tenant_id, "now": now}
        ended = {number for (number,) in conn.execute(queries("generations")["ended_generations"], params)}
    for generation in list_generations(live.work.store, live.tenant_id):
        if generation.number in ended:
            drop_generation(live, generation)
    return sorted(ended)
