"""The health of memory: counts for the dashboard, backlogs, and exactness of recall."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
import numpy.typing as npt
from psycopg.rows import dict_row

from reverie.drive.tenants import try_policies
from reverie.inference import Vectors, from_half_wire
from reverie.model import Scope
from reverie.policy import Policy
from reverie.recall.question import read_question
from reverie.recall.search import LAST, Search, search
from reverie.store.clock import tenant_time
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import count_failed_runs

#: Number of cycles that a turn may wait. A longer wait means that something is stuck.
LATE_CYCLES = 2.0
#: Minutes by which a session may be overdue. More means that there are no workers, or too few.
LATE_MINUTES = 60.0
#: The lowest share of true nearest neighbours that recall may return. Exact search returns all of them.
EXACT = 0.999

#: Fates of a memory (view `memory.lives`).
FATES = ("active", "merged", "rewritten", "compressed", "superseded", "forgotten")

#: Maximum number of rows of a table, and of tenants, for which rows are counted exactly.
_COUNTED_ROWS, _COUNTED_TENANTS = 100_000, 50
#: Depth at which recall is compared with exact search.
_DEPTH = 10
#: Cosines of half-precision vectors that differ by less count as equal.
_ROUNDING = 1e-3


def measure(store: Store, tenant_id: str) -> dict[str, int | float]:
    """Return the tenant's counts of turns, memories by kind and state, entities, dead letters, ...

    `importance` is the sum over active memories, `largest_subject` the most active memories of one subject,
    `failed_runs` the failed runs that were not repeated, `cost_usd` the cost of all requests to models in the cost
    ledger in US dollars, with the reservations of unsettled ones.
    """
    with store.transaction(tenant_id) as conn, conn.cursor(row_factory=dict_row) as cursor:
        failures = count_failed_runs(conn, tenant_id)
        counts = cursor.execute(queries("health")["measure"], {"tenant": tenant_id}).fetchone() or {}
        return counts | {"failed_runs": failures}


def row_count(store: Store, table: str) -> int:
    """Return the number of rows of a table, such as `memory.memories`, over all tenants.

    With many rows or many tenants, it is the estimate of Postgres. Raises ValueError for a table that no asset shows.
    """
    tenants, total = [tenant_id for tenant_id, _ in store.tenants()], 0
    for tenant_id in tenants:
        params = {"tenant": tenant_id, "table": table}
        with store.transaction(tenant_id) as conn:
            row = conn.execute(queries("health")["estimate_rows"], params).fetchone()
            estimate = int(row[0]) if row else 0
            if estimate > _COUNTED_ROWS or len(tenants) > _COUNTED_TENANTS:
                return estimate
            counted = conn.execute(queries("health")["count_rows"], params).fetchone()
        if counted is None or counted[0] is None:
            raise ValueError(f"the rows of {table} are not counted")
        total += int(counted[0])
    return total


def count_fates(store: Store, scope_of: Callable[[str], Scope]) -> dict[str, tuple[int, int]]:
    """Return, by fate as in the view `memory.lives`, the number of memories in a bucket and in all.

    They are counted over all tenants. Every fate but `candidate` is included, with zeros if no memory has it.
    """
    counted = dict.fromkeys(FATES, (0, 0))
    for tenant_id, _ in store.tenants():
        with store.transaction(tenant_id) as conn:
            for fate, of_bucket, of_all in conn.execute(queries("health")["count_fates"], scope_of(tenant_id).params()):
                if fate in counted:
                    counted[fate] = (counted[fate][0] + of_bucket, counted[fate][1] + of_all)
    return counted


def lag_hours(store: Store, scopes: Iterable[Scope], as_of: datetime) -> float:
    """Return the hours for which the oldest unread turn or unmerged candidate has waited; 0 if there is none.

    `as_of` is a wall-clock time, even if a tenant's clock is stopped: items wait from the time they were recorded, and
    those after the time of a stopped clock do not wait.
    """
    since = []
    for scope in scopes:
        with store.transaction(scope.tenant_id) as conn:
            row = conn.execute(queries("health")["waiting_since"], scope.params() | {"as_of": as_of}).fetchone()
        if row and row[0] is not None:
            since.append(row[0])
    return max((as_of - min(since)).total_seconds() / 3600, 0.0) if since else 0.0


def lag_cycles(store: Store, scope_of: Callable[[str], Scope], as_of: datetime) -> float:
    """Return the longest lag of any tenant within its scope, in cycles of the tenant's policy, if that can be read."""
    policies, _ = try_policies(store)
    lags = [
        lag_hours(store, [scope_of(tenant_id)], as_of) / policy.cycle.hours for tenant_id, policy in policies.items()
    ]
    return round(max(lags, default=0.0), 2)


def overdue(store: Store, at: datetime, tenant_id: str | None = None) -> tuple[float, int]:
    """Return by how many minutes the oldest session is overdue, and how many due sessions no worker has claimed.

    Each tenant is measured by its own clock: with a fixed time, nothing is overdue.
    """
    waiting = [
        (tenant_time(store, name, at) - due_at, sessions)
        for name, sessions, due_at in store.waiting_tenants(at, at)
        if tenant_id in (None, name)
    ]
    late = [(lag, sessions) for lag, sessions in waiting if lag >= timedelta(0)]
    longest = max((lag.total_seconds() / 60 for lag, _ in late), default=0.0)
    return round(longest, 1), sum(sessions for _, sessions in late)


def unembedded(store: Store, tenant_id: str, model: str, *, policy: Policy, now: datetime) -> int:
    """Return how many read turns and live memories still have no vector of the model after two cycles.

    Only items that the tenant's policy recalls need a vector. `now` is a wall-clock time: items wait from the
    time at which they were recorded.
    """
    before = now - LATE_CYCLES * policy.cycle.period
    params = {"tenant": tenant_id, "model": model, "items": list(policy.recall.items), "before": before}
    with store.transaction(tenant_id) as conn:
        row = conn.execute(queries("health")["count_unembedded"], params).fetchone()
    return sum(row) if row else 0


def unembedded_all(store: Store, model: str, now: datetime) -> int:
    """Return the sum of `unembedded` over all tenants, each by its policy, if that can be read."""
    policies, _ = try_policies(store)
    return sum(unembedded(store, tenant_id, model, policy=policy, now=now) for tenant_id, policy in policies.items())


def duplicates(store: Store) -> int:
    """Return the number of active memories whose text equals that of another memory of the same subject and kind."""
    repeated = 0
    for tenant_id, _ in store.tenants():
        with store.transaction(tenant_id) as conn:
            row = conn.execute(queries("health")["count_duplicates"], {"tenant": tenant_id}).fetchone()
        repeated += row[0] if row else 0
    return repeated


def exactness(store: Store, model: str, *, sample: int = 20) -> tuple[float, int]:
    """Return the share of true nearest neighbours that recall's dense arm returns, and how many questions were asked.

    The questions are vectors of the tenants' own items, `sample` of each tenant whose policy can be read, the same on
    every call. The truth is computed with numpy over all of the subject's vectors. Without a question the share is 1.
    """
    policies, _ = try_policies(store)
    hits = [hit for tenant_id, policy in policies.items() for hit in _compare(store, tenant_id, policy, model, sample)]
    return round(float(np.mean(np.concatenate(hits))), 4) if hits else 1.0, len(hits)


def _compare(store: Store, tenant_id: str, policy: Policy, model: str, sample: int) -> Iterable[list[float]]:
    """Yield for each question 1 for each true nearest neighbour that recall returned, and 0 for the others."""
    sql, policy = queries("health"), _dense_only(policy)
    common = {"tenant": tenant_id, "model": model}
    nothing = read_question("", policy=policy.recall, speakers=(), asked_at=LAST)
    with store.transaction(tenant_id) as conn, conn.cursor(binary=True) as cursor:
        for subject_id, asked in conn.execute(sql["sample_items"], common | {"limit": sample}).fetchall():
            rows = cursor.execute(sql["subject_vectors"], common | {"subject": subject_id}).fetchall()
            ids, matrix = [row[0] for row in rows], from_half_wire([row[1] for row in rows])
            for item_id in asked:
                vector = matrix[ids.index(item_id)]
                wanted = Search(
                    tenant_id=tenant_id, subject_id=subject_id, question=nothing, vector=vector, model=model
                )
                answer = search(conn, wanted, policy)
                returned = {hit.id: hit.signals["similarity"].value for hit, _ in answer}
                yield _shared(_nearest(ids, matrix, vector, policy), returned)


def _dense_only(policy: Policy) -> Policy:
    numbers = {"weights": {"similarity": 1.0}, "items": ("turn", "memory"), "ranked": policy.recall.candidates}
    return policy.model_copy(update={"recall": policy.recall.model_copy(update=numbers)})


def _nearest(ids: list[UUID], matrix: Vectors, vector: npt.NDArray[np.float32], policy: Policy) -> dict[UUID, float]:
    """Return the items with the most similar parts, among those that the policy admits."""
    best: dict[UUID, float] = {}
    for id_, score in zip(ids, (matrix @ vector).tolist(), strict=True):
        if score >= policy.recall.min_similarity:
            best[id_] = max(best.get(id_, score), score)
    return dict(sorted(best.items(), key=lambda pair: -pair[1])[: min(_DEPTH, policy.recall.candidates)])


def _shared(truth: dict[UUID, float], returned: dict[UUID, float]) -> list[float]:
    """Return 1 for each true item that was returned, or whose place has an equally similar one; 0 for the others."""
    nearest = sorted(returned.values(), reverse=True)
    return [
        float(id_ in returned or (place < len(nearest) and nearest[place] >= near - _ROUNDING))
        for place, (id_, near) in enumerate(truth.items())
    ]
