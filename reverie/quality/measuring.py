"""The measures of a tenant: counted in its own transaction, compared with its past, written as numbers and codes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from reverie.policy import Policy
from reverie.quality.bands import compare
from reverie.quality.gate import Counted, Measure, QualityGate
from reverie.quality.gates import GATES
from reverie.store.clock import tenant_time
from reverie.store.database import Store
from reverie.store.queries import queries

_COLUMNS = ("gate", "part", "value", "size", "usual", "margin", "lowest", "highest", "weeks")


def measurable(
    store: Store, tenant_id: str, *, policy: Policy, at: datetime, gates: Sequence[QualityGate]
) -> list[QualityGate]:
    """Return the gates that can be measured at `at`, or at the time of a fixed clock.

    A gate whose past no table has measures a state. Once memory has advanced by more than a cycle since, that state is
    lost, and today's would be recorded as that of an earlier week.
    """
    with store.transaction(tenant_id) as conn:
        row = conn.execute(queries("quality")["reached"], {"tenant": tenant_id}).fetchone()
    reached, as_of = row[0] if row else None, tenant_time(store, tenant_id, at)
    # runs may have later times than a stopped clock, but memory does not pass it
    if reached is None or tenant_time(store, tenant_id, reached) <= as_of + policy.cycle.period:
        return list(gates)
    return [gate for gate in gates if gate.history != "measures"]


def measure_tenant(
    store: Store,
    tenant_id: str,
    *,
    policy: Policy,
    at: datetime,
    check_id: UUID,
    gates: Sequence[QualityGate] = GATES,
) -> list[Measure]:
    """Return the measures of every gate at `at`, and write them to `ops.measures` with the id of the check.

    They are those of the tenant's time: `at`, or the time at which its clock is stopped. A second check at the same
    time replaces the first one's rows of these gates.
    """
    as_of = tenant_time(store, tenant_id, at)
    measures = [
        measure
        for gate in gates
        for measure in compare(gate, tenant_id, _count(store, gate, tenant_id, policy, at=at, as_of=as_of))
    ]
    common = {"tenant": tenant_id, "as_of": as_of}
    columns = {name: [getattr(measure, name) for measure in measures] for name in _COLUMNS}
    with store.transaction(tenant_id) as conn:
        conn.execute(queries("quality")["forget_measures"], common | {"gates": [gate.name for gate in gates]})
        conn.execute(queries("quality")["write_measures"], common | {"check_id": check_id} | columns)
    return measures


def _count(
    store: Store, gate: QualityGate, tenant_id: str, policy: Policy, *, at: datetime, as_of: datetime
) -> list[Counted]:
    """Return the counts of week 0 and, if there are any, of earlier weeks; `as_of`: `at` by the tenant's clock."""
    sql, params = queries("quality"), {"tenant": tenant_id, "as_of": as_of, "gate": gate.name}
    counted = list(gate.read(store, tenant_id, policy, at)) if gate.read else []
    with store.transaction(tenant_id) as conn:
        if gate.sql:
            counted += conn.execute(gate.sql, params).fetchall()
        if gate.history == "measures":
            counted += conn.execute(sql["earlier_measures"], params).fetchall()
    return counted
