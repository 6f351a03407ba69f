"""One module a noun; `ROUTERS` in the order of the documentation."""

from __future__ import annotations

from reverie.api.routes import entities, memories, outcomes, recalls

ROUTERS = (
    recalls.router,
    memories.router,
    entities.router,
    outcomes.router,
)
