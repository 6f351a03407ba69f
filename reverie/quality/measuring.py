"""The measures of a tenant: counted in its own transaction, compared with its past, written as numbers and codes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from reverie.policy import Policy
from reverie.quality.bands import compare
from reverie.quality.gate import Counted, Measure, QualityGate
from reverie.quality.gates import GATES
from reverie.store.database import Store
from reverie.store.queries import queries

_COLUMNS = ("gate", "part", "value", "size", "usual", "margin", "lowest", "highest", "weeks")


def measure_tenant(
    store: Store,
    tenant_id: str,
    *,
    policy: Policy,
    as_of: datetime,
    check_id: UUID,
    gates: Sequence[QualityGate] = GATES,
) -> list[Measure]:
    """Return the measures of every gate at `as_of`, and write them to `ops.measures` with the id of the check.

    A second check at the same time replaces the first one's rows.
    """
    measures = [
        measure for gate in gates for measure in compare(gate, tenant_id, _count(store, gate, tenant_id, policy, as_of))
    ]
    common = {"tenant": tenant_id, "as_of": as_of}
    columns = {name: [getattr(measure, name) for measure in measures] for name in _COLUMNS}
    with store.transaction(tenant_id) as conn:
        conn.execute(queries("quality")["forget_measures"], common)
        conn.execute(queries("quality")["write_measures"], common | {"check_id": check_id} | columns)
    return measures


def _count(store: Store, gate: QualityGate, tenant_id: str, policy: Policy, as_of: datetime) -> list[Counted]:
    """Return the counts of week 0 and, if there are any, of earlier weeks."""
    sql, params = queries("quality"), {"tenant": tenant_id, "as_of": as_of, "gate": gate.name}
    counted = list(gate.read(store, tenant_id, policy, as_of)) if gate.read else []
    with store.transaction(tenant_id) as conn:
        if gate.sql:
            counted += conn.execute(gate.sql, params).fetchall()
        if gate.history == "measures":
            counted += conn.execute(sql["earlier_measures"], params).fetchall()
    return counted
