"""What a person says is wrong about a memory: a row of the log, so that it holds in every rebuild (spec E4)."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from reverie.capture.mending import mend_text
from reverie.errors import InputError, NotFoundError
from reverie.model import require_aware, stable_id
from reverie.policy import Policy
from reverie.store.queries import queries
from reverie.store.queue import Waiting, enqueue_params
from reverie.store.steps import Statement, Steps

#: Characters of what a person writes in a memory's place.
MOST_CHARACTERS = 10_000


def correct_memory(
    *,
    tenant_id: str,
    memory_id: UUID,
    policy: Policy,
    as_of: datetime,
    subject_id: str | None = None,
    content: str | None = None,
) -> Steps[UUID]:
    """Record that a memory is wrong and is to be forgotten, or, with `content`, what is right instead.

    Returns the correction's id. It is a row of the log, so it holds in every rebuild; the deferred tier works it in.

    Raises:
        NotFoundError: the tenant (the subject, where one is named) has no such memory.
        InputError: the content is blank or too long.
    """
    as_of = require_aware(as_of)
    if content is not None:
        content = mend_text(content).strip()
        if not 0 < len(content) <= MOST_CHARACTERS:
            raise InputError(f"content has {len(content)} characters; expected 1 to {MOST_CHARACTERS:,}.")
    kind = "wrong" if content is None else "replace"
    correction = stable_id(as_of, kind, tenant_id, str(memory_id))
    params = {
        "tenant": tenant_id,
        "subject": subject_id,
        "id": correction,
        "kind": kind,
        "memory": memory_id,
        "content": content,
        "as_of": as_of,
    }
    rows = yield Statement(queries("correct")["add_correction"], params)
    if not rows:
        raise NotFoundError(f"There is no memory {memory_id}.")
    waiting = Waiting(subject_id=rows[0][0], session_id="corrections", turns=0, said_at=as_of, quiet=True)
    yield Statement(
        queries("queue")["enqueue"], enqueue_params(tenant_id, [waiting], policy=policy, at=as_of), last=True
    )
    return correction
