"""cycle_totals: totals of a bucket's stages since its cycle was opened, including all past cycles.

A stage that is a step of the last cycle reports only that cycle; the totals are those of the whole run.
"""

from __future__ import annotations

from psycopg.types.json import Jsonb

from reverie.drive.steps import OpenCycle
from reverie.drive.tenants import Totals
from reverie.model import Scope
from reverie.store.database import Store
from reverie.store.queries import queries


def add_cycles(totals: Totals, store: Store, scope: Scope, cycle: OpenCycle, *, driver: str) -> None:
    """Add the totals of a driver's runs in a bucket of a tenant since the cycle was opened, stage by stage."""
    params = {
        "tenant": scope.tenant_id,
        "scope": Jsonb(scope.describe()),
        "opened_at": cycle.opened_at,
        "driver": driver,
    }
    with store.transaction(scope.tenant_id) as conn:
        rows = conn.execute(queries("steps")["sum_cycles"], params).fetchall()
    for stage, runs, seconds, cost_usd, counts in rows:
        totals.runs[stage] += runs
        totals.seconds[stage] += seconds
        totals.cost_usd[stage] += cost_usd
        for name, number in counts.items():
            totals.counts[stage][name] += number
