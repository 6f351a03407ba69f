"""The preview of an erasure, and the erasure. The preview's counts are exact: it erases and rolls back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response

from reverie.drive.erase.erasing import Eraser
from reverie.drive.erase.read import SharedTurnsError
from reverie.drive.erase.targets import Target, memory_target, session_target, subject_target, turn_target
from reverie.errors import InputError
from reverie.inspector.views.page import InspectorPage
from reverie.inspector.visits import Visit


async def preview_erasure(visit: Visit) -> Response:
    """Show what would be erased. If other memories rest on the turns of a memory too, the page says so."""
    target, named = _target(visit), _named(visit)
    await visit.services.journal.flush()
    try:
        done = await asyncio.to_thread(_eraser(visit).erase, target, preview=True)
    except SharedTurnsError:
        target, named = replace(target, shared=True), named | {"shared": "yes"}
        done = await asyncio.to_thread(_eraser(visit).erase, target, preview=True)
    return visit.render("erase.html", done_erasure=done, target=target, named=named, confirm=_confirm(target))


async def erase_target(visit: Visit) -> Response:
    """Erase the target of the form, and show the receipt."""
    target = _target(visit)
    confirmed = _confirm(target)
    # a name may end with a space, and the name without it may be that of another subject
    written = visit.value("confirm") if target.kind == "subject" else visit.entry("confirm")
    if written != confirmed:
        raise InputError(f"Nothing was erased: to confirm it, write “{confirmed}” in the form.")
    visit.caller.deadline.committing()  # the thread goes on after the deadline
    await visit.services.journal.flush()  # else a question that waits there would be logged after the erasure
    done = await asyncio.to_thread(_eraser(visit).erase, target)
    if done.subject_id is not None:
        visit.services.subject_cache.put(visit.tenant_id, done.subject_id, ())
    return visit.render("erased.html", done_erasure=done, target=target)


def _confirm(target: Target) -> str:
    """Return the text that confirms an erasure: the name of a subject, else "erase"."""
    return target.subject_id if target.kind == "subject" and target.subject_id else "erase"


def _target(visit: Visit) -> Target:
    kind = visit.value("kind")
    if kind == "subject":
        return subject_target(visit.name("subject"))
    if kind == "session":
        return session_target(visit.name("subject"), visit.name("session"))
    if kind == "turn":
        return turn_target(visit.uuid("turn"))
    if kind == "memory":
        return memory_target(visit.uuid("memory"), shared=visit.value("shared") == "yes")
    raise InputError(f"{kind!r} cannot be erased here: a subject, a session, a turn or the turns of a memory can.")


def _named(visit: Visit) -> dict[str, Any]:
    names = ("kind", "subject", "session", "turn", "memory", "shared")
    return {name: value for name in names if (value := visit.value(name)) is not None}


def _eraser(visit: Visit) -> Eraser:
    return Eraser(
        store=visit.services.batches,
        tenant_id=visit.tenant_id,
        policy=visit.caller.policy,
        count_tokens=visit.services.count_tokens,
        at=datetime.now(UTC),
        actor=visit.visitor.actor,
    )


PAGES = (
    InspectorPage("erase", preview_erasure, scope="admin"),
    InspectorPage("erase", erase_target, method="POST", scope="admin"),
)
