"""Correct a memory: wrong, replace, forget, pin, unpin; undo a merge or a supersession; retract a correction.

Each leaves a row of `log.corrections` with the name and the id of the key.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import get_args

from starlette.responses import Response

from reverie.capture.live.corrections import Asked, Corrected, CorrectionAsked, correct_memory, retract_correction
from reverie.consolidate.merge.undo import undo
from reverie.errors import InputError, NotFoundError
from reverie.inspector.views.page import InspectorPage
from reverie.inspector.visits import Visit
from reverie.recall.inspect import find_memory


async def amend_memory(visit: Visit) -> Response:
    """Apply the form of a memory's page, and show the page again, or the nearest one if the memory has gone."""
    memory_id, kind, caller = visit.uuid("memory"), visit.value("kind"), visit.caller
    if kind == "keep_apart":
        caller.deadline.committing()  # the thread goes on after the deadline
        await asyncio.to_thread(
            undo,
            caller.services.batches,
            tenant_id=caller.tenant_id,
            loser_id=memory_id,
            policy=caller.policy,
            as_of=visit.at,
            actor=visit.visitor.actor,
        )
        return visit.redirect("memory", memory=memory_id, done=kind)
    if kind == "retract":
        made = await retract_correction(
            caller.writer(), memory_id=memory_id, policy=caller.policy, as_of=visit.at, actor=visit.visitor.actor
        )
    elif kind in get_args(Asked):
        content = visit.entry("content") if kind == "replace" else None
        asked: Asked = next(each for each in get_args(Asked) if each == kind)
        if asked == "replace" and content is None:
            raise InputError("Write what is right in place of the memory.")
        correction = CorrectionAsked(memory_id=memory_id, asked=asked, content=content, actor=visit.visitor.actor)
        made = await correct_memory(caller.writer(), correction, policy=caller.policy, as_of=visit.at)
    else:
        raise InputError(f"There is no correction {kind!r}.")
    return await _redirect(visit, made, kind)


async def _redirect(visit: Visit, made: Corrected, kind: str | None) -> Response:
    # a replacement that is corrected before it is a memory leaves nothing that a page could show
    for id_ in filter(None, (made.memory_id, made.replacement_id)):
        with suppress(NotFoundError):
            return visit.redirect("memory", memory=await find_memory(visit.caller.writer(), str(id_)), done=kind)
    return visit.redirect("subject", subject=made.subject_id, done=kind)


PAGES = (InspectorPage("amend", amend_memory, method="POST", scope="write"),)
