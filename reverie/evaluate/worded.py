"""The share of a language model in a tenant's memory: memories that it worded, and the requests that made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from psycopg.rows import class_row

from reverie.store.database import Store
from reverie.store.queries import queries


@dataclass(frozen=True, kw_only=True, slots=True)
class StageUsage:
    """The requests of one stage to language models."""

    stage: str
    items: int
    #: Number of requests with a usable reply.
    answered: int
    tokens_in: int
    tokens_out: int

    def usd(self, dollars_in: float, dollars_out: float) -> float:
        """Return the cost in US dollars, at a price per million input and output tokens."""
        return (self.tokens_in * dollars_in + self.tokens_out * dollars_out) / 1e6


@dataclass(frozen=True, kw_only=True, slots=True)
class Worded:
    """A tenant's memories, worded by rules or by a model."""

    #: Number of active memories by kind: (worded by rules, worded by a model).
    kinds: Mapping[str, tuple[int, int]]
    asked: tuple[StageUsage, ...]


def worded(store: Store, tenant_id: str) -> Worded:
    """Read the counts from memory and from the ledger of model calls."""
    sql, params = queries("funnel"), {"tenant": tenant_id}
    with store.transaction(tenant_id) as conn:
        with conn.cursor(row_factory=class_row(StageUsage)) as cursor:
            asked = cursor.execute(sql["asked"], params).fetchall()
        kinds = {kind: (rules, model) for kind, rules, model in conn.execute(sql["by_whom"], params)}
    return Worded(kinds=kinds, asked=tuple(sorted(asked, key=lambda usage: usage.stage)))


def worded_of(store: Store, tenant_id: str, subject_id: str, *, limit: int) -> list[tuple[str, str, str | None]]:
    """Return (kind, text, session of a summary) of the memories that a model worded, at most `limit` of each kind."""
    params = {"tenant": tenant_id, "subject": subject_id, "limit": limit}
    with store.transaction(tenant_id) as conn:
        return conn.execute(queries("funnel")["worded"], params).fetchall()
