"""Labelled queries from a tenant's own recalls and outcomes."""

from __future__ import annotations

from reverie.evaluate.ranking.sets import LabelledQuery
from reverie.store.database import Store
from reverie.store.queries import queries


def logged_queries(store: Store, tenant_id: str) -> list[LabelledQuery]:
    """Return the recalls with items whose turns had a good outcome afterwards; these items are their needs.

    Only returned items can be labelled, so these queries favour the weights that returned them.
    """
    with store.transaction(tenant_id) as conn:
        rows = conn.execute(queries("ranking")["recalled"], {"tenant": tenant_id}).fetchall()
    return [
        LabelledQuery(
            subject_id=subject, text=question, asked_at=asked_at, needs=frozenset(needs), unit="item", group=subject
        )
        for subject, question, asked_at, needs in rows
    ]
