"""Gates on failures that users notice: recalls that find nothing, and turns that wait."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from reverie.evaluate.health import LATE_CYCLES, lag_hours
from reverie.model import Scope
from reverie.policy import Policy
from reverie.quality.gate import Counted, QualityGate
from reverie.store.database import Store
from reverie.store.queries import queries


def waiting_cycles(store: Store, tenant_id: str, policy: Policy, at: datetime) -> Sequence[Counted]:
    """Return the number of cycles for which the tenant's oldest turn or candidate has waited at `at`.

    A turn waits by the wall clock, even if the tenant's own clock is stopped.
    """
    hours = lag_hours(store, [Scope(tenant_id=tenant_id)], at)
    return [("oldest", 0, hours / policy.cycle.hours, 1)]


#: A question may be about something never said; a jump means a broken index, a missing model or a wrong filter.
EMPTY_RECALLS = QualityGate(
    name="empty_recalls",
    sql=queries("quality")["empty_recalls"],
    holds="No more recalls than usual find nothing.",
    clause=lambda _: "{} of recalls found nothing in the last 7 days",
    low=None,
)

#: The health check `bucket_lag` has one limit for all tenants; this gate uses the usual lag of each tenant.
LAG = QualityGate(
    name="lag",
    holds="No turn has waited longer than is usual.",
    clause=lambda _: "the oldest turn that waits has waited for {}",
    unit="cycles",
    history="measures",
    low=None,
    least_margin=1.0,
    least_size=1,
    without_history=LATE_CYCLES,
    read=waiting_cycles,
)
