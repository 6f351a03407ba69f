"""Correct a memory: wrong, replace, forget, pin, unpin; undo a merge or a supersession; retract a correction.

Each leaves a row of `log.corrections` with the name and the id of the key.
"""

from __future__ import annotations

import asyncio
from typing import get_args

from starlette.responses import Response

from reverie.capture.live.corrections import Asked, CorrectionAsked, correct_memory, retract_correction
from reverie.consolidate.merge.undo import undo
from reverie.errors import InputError
from reverie.inspector.views.page import InspectorPage
from reverie.inspector.visits import Visit


async def amend_memory(visit: Visit) -> Response:
    """Apply the form of a memory's page, and show the page again."""
    memory_id, kind, caller = visit.uuid("memory"), visit.value("kind"), visit.caller
    if kind == "keep_apart":
        await asyncio.to_thread(
            undo,
            caller.services.batches,
            tenant_id=caller.tenant_id,
            loser_id=memory_id,
            policy=caller.policy,
            as_of=visit.at,
            actor=visit.visitor.actor,
        )
    elif kind == "retract":
        await retract_correction(
            caller.writer(), memory_id=memory_id, policy=caller.policy, as_of=visit.at, actor=visit.visitor.actor
        )
    elif kind in get_args(Asked):
        content = visit.entry("content") if kind == "replace" else None
        asked: Asked = next(each for each in get_args(Asked) if each == kind)
        if asked == "replace" and content is None:
            raise InputError("Write what is right in place of the memory.")
        correction = CorrectionAsked(memory_id=memory_id, asked=asked, content=content, actor=visit.visitor.actor)
        await correct_memory(caller.writer(), correction, policy=caller.policy, as_of=visit.at)
    else:
        raise InputError(f"There is no correction {kind!r}.")
    return visit.redirect("memory", memory=memory_id, done=kind)


PAGES = (InspectorPage("amend", amend_memory, method="POST", scope="write"),)
