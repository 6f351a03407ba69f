"""One module a noun; `ROUTERS` in the order of the documentation and of trying: first what every message needs."""

from __future__ import annotations

from reverie.api.routes import (
    contexts,
    corrections,
    entities,
    facts,
    memories,
    observations,
    outcomes,
    recalls,
    reviews,
    sessions,
    turns,
    working_memory,
)

ROUTERS = tuple(
    module.router
    for module in (
        turns,
        sessions,
        working_memory,
        recalls,
        contexts,
        observations,
        outcomes,
        corrections,
        facts,
        memories,
        entities,
        reviews,
    )
)
