"""The tenants of the database, and the health of one."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import Any

from starlette.responses import Response

from reverie.evaluate.health import LATE_CYCLES, lag_hours, measure, overdue
from reverie.inspector.reading import count_unattended
from reverie.inspector.views.page import InspectorPage
from reverie.inspector.visits import Visit
from reverie.model import Scope
from reverie.policy import Policy
from reverie.recall.roster import list_tenants
from reverie.store.database import Store

_TENANTS = 20


async def show_tenants(visit: Visit) -> Response:
    """List the tenants; redirect the holder of a tenant's key to that tenant."""
    if visit.visitor.tenant_id is not None:
        return visit.redirect("tenant", tenant=visit.visitor.tenant_id)
    search = visit.entry("search")
    found = await asyncio.to_thread(
        list_tenants, visit.services.batches, search=search, after=visit.value("after"), limit=_TENANTS + 1
    )
    return visit.render("tenants.html", tenants=found[:_TENANTS], more=len(found) > _TENANTS, search=search)


async def show_tenant(visit: Visit) -> Response:
    """Show the counts of a tenant, and anything that needs attention; the page reloads while counting goes on."""
    count = partial(_health, visit.services.batches, visit.tenant_id, visit.caller.policy, visit.at)
    health = await visit.inspector.counts.read(visit.tenant_id, count)
    response = visit.render("tenant.html", health=health, policy=visit.caller.policy, missing=visit.services.missing)
    if health is None:
        response.headers["Refresh"] = "1"
    return response


def _health(store: Store, tenant_id: str, policy: Policy, at: datetime) -> dict[str, Any]:
    counted_at = datetime.now(UTC)
    # turns wait by the wall clock: a turn that was recorded after the time of a stopped clock waits too
    lag = lag_hours(store, [Scope(tenant_id=tenant_id)], counted_at)
    reviews, triggers = count_unattended(store, tenant_id, at)
    return {
        "figures": measure(store, tenant_id),
        "reviews": reviews,
        "triggers": triggers,
        "overdue": overdue(store, counted_at, tenant_id)[1],
        "lag": lag,
        "late": round(lag) if lag > LATE_CYCLES * policy.cycle.hours else 0,
        "counted_at": counted_at,
    }


PAGES = (
    InspectorPage("", show_tenants, of_tenant=False),
    InspectorPage("tenant", show_tenant),
)
