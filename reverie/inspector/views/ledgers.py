"""Ledgers of a tenant: runs, costs, dead letters, and people's actions."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.responses import Response

from reverie.consolidate.stages import NAMES
from reverie.inspector.reading import latest_acts, latest_corrections
from reverie.inspector.views.page import InspectorPage
from reverie.inspector.visits import Visit
from reverie.llm.spending import read_spending
from reverie.store.dead_letters import LetterFilter, count_dead_letters, list_dead_letters
from reverie.store.privacy.receipts import list_receipts
from reverie.store.runs import list_runs

_RUNS, _LETTERS, _ACTIONS = 50, 100, 50


async def show_runs(visit: Visit) -> Response:
    """List the latest runs, of one stage or of all."""
    stage = visit.value("stage")

    def read() -> list[dict[str, Any]]:
        with visit.services.batches.transaction(visit.tenant_id) as conn:
            return list_runs(conn, visit.tenant_id, stage=stage, limit=_RUNS)

    return visit.render("runs.html", runs=await asyncio.to_thread(read), stage=stage, stages=NAMES)


async def show_costs(visit: Visit) -> Response:
    """List the costs of model calls, by stage and model or by subject, and the credits."""
    by_subject = visit.value("by") == "subject"
    rows, credits = await asyncio.to_thread(
        read_spending, visit.services.batches, visit.tenant_id, since=visit.time("since"), by_subject=by_subject
    )
    return visit.render(
        "costs.html",
        costs=rows[:_ACTIONS],
        total=sum(row["cost_usd"] for row in rows),
        credits=credits[:_ACTIONS],
        by_subject=by_subject,
        since=visit.time("since"),
    )


async def show_letters(visit: Visit) -> Response:
    """List dead letters without their content, and their number for each reason."""
    reason, store = visit.value("reason"), visit.services.batches
    reasons = await asyncio.to_thread(count_dead_letters, store, visit.tenant_id)
    letters = await asyncio.to_thread(
        list_dead_letters, store, visit.tenant_id, where=LetterFilter(reason=reason), limit=_LETTERS
    )
    return visit.render("letters.html", reasons=reasons, letters=letters, reason=reason)


async def show_audit(visit: Visit) -> Response:
    """List the latest corrections, triggers acted upon, reviews seen and receipts of erasures, with their actors."""
    corrections = await latest_corrections(visit.caller.reader(), limit=_ACTIONS)
    receipts = await list_receipts(visit.caller.writer(), after=visit.number("after") or 0, limit=_ACTIONS + 1)
    return visit.render(
        "audit.html",
        corrections=corrections,
        acts=await latest_acts(visit.caller.writer(), limit=_ACTIONS),
        receipts=receipts[:_ACTIONS],
        more=len(receipts) > _ACTIONS,
    )


PAGES = (
    InspectorPage("runs", show_runs, scope="admin"),
    InspectorPage("costs", show_costs, scope="admin"),
    InspectorPage("letters", show_letters, scope="admin"),
    InspectorPage("audit", show_audit, scope="admin"),
)
