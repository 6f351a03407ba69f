"""How memory is: counts for the dashboard, what waits and since when, and whether recall finds what an exact search finds."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

import numpy as np
import numpy.typing as npt
from psycopg.rows import dict_row

from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.recall.search import search
from reverie.store.database import Store
from reverie.store.queries import queries

#: Depth at which recall is compared with exact search.
_DEPTH = 10
#: Cosines of half-precision vectors that differ less are equal.
_ROUNDING = 1e-3


def measure(store: Store, tenant_id: str) -> dict[str, float]:
    """Return the tenant's counts of turns, memories by kind and state, entities, dead letters, cost in US dollars, ..."""
    with store.transaction(tenant_id) as conn, conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(queries("health")["measure"], {"tenant": tenant_id}).fetchone() or {}


def measure_all(store: Store) -> dict[str, int | float]:
    """Return the sum over tenants of `measure`, and the number of tenants; mean_importance is the tenants' mean."""
    tenants = [tenant_id for tenant_id, _ in store.tenants()]
    rows = [measure(store, tenant_id) for tenant_id in tenants]
    totals: dict[str, int | float] = {name: sum(row[name] for row in rows) for name in (rows[0] if rows else {})}
    if rows:
        totals["mean_importance"] = round(totals["mean_importance"] / len(rows), 4)
    return totals | {"tenants": len(tenants)}


def lag_hours(store: Store, scopes: Iterable[Scope], as_of: datetime) -> float:
    """Return for how many hours the oldest unread turn or unmerged candidate has waited; 0 when nothing waits."""
    oldest = []
    for scope in scopes:
        with store.transaction(scope.tenant_id) as conn:
            found = conn.execute(queries("health")["oldest_pending"], scope.params() | {"as_of": as_of}).fetchone()
        if found and found[0] is not None:
            oldest.append(found[0])
    return max((as_of - min(oldest)).total_seconds() / 3600, 0.0) if oldest else 0.0


def unembedded(store: Store, tenant_id: str, model: str) -> int:
    """Return how many turns and memories have no vector of the model."""
    with store.transaction(tenant_id) as conn:
        found = conn.execute(queries("health")["count_unembedded"], {"tenant": tenant_id, "model": model}).fetchone()
    return sum(found) if found else 0


def duplicates(store: Store, tenant_id: str) -> int:
    """Return how many active memories repeat another one of their subject and kind word for word."""
    with store.transaction(tenant_id) as conn:
        found = conn.execute(queries("health")["count_duplicates"], {"tenant": tenant_id}).fetchone()
    return int(found[0]) if found else 0


def exactness(store: Store, tenant_id: str, policy_name: str, model: str, *, sample: int = 20) -> tuple[float, int]:
    """Return the share of true nearest neighbours that recall's dense arm returns, and how many questions were asked.

    Questions are vectors of the tenant's own items, a fixed sample; truth is numpy over all the subject's vectors.
    """
    sql, policy = queries("health"), _dense_only(load_policy(policy_name))
    found: list[float] = []
    with store.transaction(tenant_id) as conn:
        common = {"tenant": tenant_id, "model": model}
        asked = conn.execute(sql["sample_vectors"], common | {"limit": sample}).fetchall()
        for subject_id, _, text in asked:
            rows = conn.execute(sql["subject_vectors"], common | {"subject": subject_id}).fetchall()
            matrix = np.array([json.loads(row[1]) for row in rows], np.float32)
            vector = np.array(json.loads(text), np.float32)
            truth = _nearest([row[0] for row in rows], matrix @ vector)
            answer = search(
                conn, tenant_id=tenant_id, subject_id=subject_id, vector=vector, question="", policy=policy, model=model
            )
            nearest = sorted(
                (hit.signals["similarity"].value for hit, _ in answer if "dense" in hit.ranks), reverse=True
            )
            given = {hit.id for hit, _ in answer}
            # equal vectors may come in any order, so an item counts as found when as many as near were given
            found += [
                float(id_ in given or (place < len(nearest) and nearest[place] >= near - _ROUNDING))
                for place, (id_, near) in enumerate(truth)
            ]
    return (float(np.mean(found)) if found else 1.0), len(asked)


def _dense_only(policy: Policy) -> Policy:
    recall = policy.recall.model_copy(update={"weights": {"similarity": 1.0}, "items": ("turn", "memory")})
    return policy.model_copy(update={"recall": recall})


def _nearest(ids: list[UUID], scores: npt.NDArray[np.float32]) -> list[tuple[UUID, float]]:
    best: dict[UUID, float] = {}
    for id_, score in zip(ids, scores.tolist(), strict=True):
        best[id_] = max(best.get(id_, -2.0), score)
    return sorted(best.items(), key=lambda pair: -pair[1])[:_DEPTH]
