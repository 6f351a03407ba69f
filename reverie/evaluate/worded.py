"""What a language model added to a tenant's memory: how much of it is in its words, and what it was asked for that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from psycopg.rows import class_row

from reverie.store.database import Store
from reverie.store.queries import queries


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What a stage asked."""

    stage: str
    items: int
    #: Requests that brought a reply which could be used.
    answered: int
    tokens_in: int
    tokens_out: int

    def usd(self, dollars_in: float, dollars_out: float) -> float:
        """Return its cost at a price in US dollars a million tokens in and out."""
        return (self.tokens_in * dollars_in + self.tokens_out * dollars_out) / 1e6


@dataclass(frozen=True, kw_only=True, slots=True)
class Worded:
    """A tenant's memory by whose words it is in."""

    #: Memories in force by kind: of rules, of a model.
    kinds: Mapping[str, tuple[int, int]]
    asked: tuple[Asked, ...]


def worded(store: Store, tenant_id: str) -> Worded:
    """Read it from the memory and the ledger of calls."""
    sql, params = queries("funnel"), {"tenant": tenant_id}
    with store.transaction(tenant_id) as conn:
        with conn.cursor(row_factory=class_row(Asked)) as cursor:
            asked = cursor.execute(sql["asked"], params).fetchall()
        kinds = {kind: (rules, model) for kind, rules, model in conn.execute(sql["by_whom"], params)}
    return Worded(kinds=kinds, asked=tuple(sorted(asked, key=lambda one: one.stage)))


def worded_of(store: Store, tenant_id: str, subject_id: str, *, limit: int) -> list[tuple[str, str, str | None]]:
    """Return (kind, text, session of a summary) of a subject's memory in a model's words, at most `limit` a kind."""
    params = {"tenant": tenant_id, "subject": subject_id, "limit": limit}
    with store.transaction(tenant_id) as conn:
        return conn.execute(queries("funnel")["worded"], params).fetchall()
