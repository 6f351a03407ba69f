"""Routes, one module per noun; `ROUTERS` is their order in the documentation and in matching.

- `turns`: messages as they are written
- `sessions`: closing a session
- `working_memory`: the state of a session in progress
- `recalls`: questions about a subject
- `contexts`: the context for a language model
- `connections`: cached tools of connections, and information about them
- `observations`: events beside the turns
- `outcomes`: results of decisions
- `corrections`: a person's corrections of a memory
- `facts`: structured facts, the profile and staged recall
- `memories`: memories with their lineage
- `entities`: entities and their graph
- `conflicts`: memories that cannot both hold
- `life_events`: past and future events of a subject, by day
- `triggers`: reasons to act for a subject, and its signals
- `webhooks`: the addresses that events are sent to
- `reviews`: turns that a person should look at
- `store`: the key-value store of agent frameworks
- `assist/`: tools for a message, lessons of other sessions, inboxes, the feed of states
- `privacy/`: erasures, exports and consent
- `operations`: health, readiness and metrics, outside `/v1`
"""

from __future__ import annotations

from reverie.api.routes import (
    conflicts,
    connections,
    contexts,
    corrections,
    entities,
    facts,
    life_events,
    memories,
    observations,
    outcomes,
    recalls,
    reviews,
    sessions,
    store,
    triggers,
    turns,
    webhooks,
    working_memory,
)
from reverie.api.routes.assist import inbox, lessons, states, tools
from reverie.api.routes.privacy import consents, erasures, exports

ROUTERS = tuple(
    module.router
    for module in (
        turns,
        sessions,
        working_memory,
        recalls,
        contexts,
        connections,
        observations,
        outcomes,
        corrections,
        facts,
        memories,
        entities,
        conflicts,
        life_events,
        triggers,
        webhooks,
        reviews,
        erasures,
        exports,
        consents,
        store,
        tools,
        lessons,
        inbox,
        states,
    )
)
