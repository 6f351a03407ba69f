"""The tenants of the database, and the health of one."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from starlette.responses import Response

from reverie.evaluate.health import lag_hours, measure, overdue
from reverie.inspector.views.page import InspectorPage
from reverie.inspector.visits import Visit
from reverie.model import Scope
from reverie.recall.roster import list_tenants

_TENANTS = 20


async def show_tenants(visit: Visit) -> Response:
    """List the tenants; who has a key of one is led there."""
    if visit.visitor.tenant_id is not None:
        return visit.redirect("tenant", tenant=visit.visitor.tenant_id)
    search = visit.value("search")
    found = await asyncio.to_thread(
        list_tenants, visit.services.batches, search=search, after=visit.value("after"), limit=_TENANTS + 1
    )
    return visit.render("tenants.html", tenants=found[:_TENANTS], more=len(found) > _TENANTS, search=search)


async def show_tenant(visit: Visit) -> Response:
    """Show the counts of a tenant, and what needs attention."""
    store, tenant_id = visit.services.batches, visit.tenant_id
    figures = await asyncio.to_thread(measure, store, tenant_id)
    late = await asyncio.to_thread(overdue, store, datetime.now(UTC), tenant_id)
    lag = await asyncio.to_thread(lag_hours, store, [Scope(tenant_id=tenant_id)], visit.at)
    return visit.render(
        "tenant.html",
        figures=figures,
        overdue=late,
        lag=lag,
        policy=visit.caller.policy,
        missing=visit.services.missing,
    )


PAGES = (
    InspectorPage("", show_tenants, of_tenant=False),
    InspectorPage("tenant", show_tenant),
)
