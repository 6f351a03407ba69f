"""Erasures and their receipts, for administrators (spec E4)."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field, model_validator
from starlette.responses import Response

from reverie.api.access import Admin
from reverie.api.answers import answer
from reverie.api.fields import Answer, Body, Cursor, Limit, Name, example, now
from reverie.api.paging import decode_cursor, page
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.drive.erase.erasing import Erased, Eraser
from reverie.drive.erase.targets import Target, memory_target, session_target, subject_target, turn_target
from reverie.store.privacy.receipts import ErasureKind, Receipt, list_receipts

router = routes_of("erasures")

#: The id that names the target, by kind of erasure.
_NAMED = {"subject": "subject_id", "session": "session_id", "turn": "turn_id", "memory": "memory_id"}


class ErasureRequest(Body):
    """A request to erase something as if it had never been said."""

    model_config = example({"kind": "subject", "subject_id": "ana", "preview": False, "actor": "privacy: Dana"})

    kind: Literal["subject", "session", "turn", "memory"] = Field(
        description="subject: everything about it; session: its turns and events; turn: that turn or event; memory: "
        "the turns and events that it was extracted from."
    )
    subject_id: Name | None = Field(default=None, description="With kind subject, or session.")
    session_id: Name | None = Field(default=None, description="With kind session.")
    turn_id: UUID | None = Field(default=None, description="With kind turn.")
    memory_id: UUID | None = Field(default=None, description="With kind memory.")
    shared: bool = Field(default=False, description="With kind memory: also turns that other memories rest on.")
    preview: bool = Field(default=False, description="Only count what would be erased.")
    actor: Name | None = Field(default=None, description="Who asks for it. Default: the name of the key.")

    @model_validator(mode="after")
    def _names_one_thing(self) -> ErasureRequest:
        wanted = {_NAMED[self.kind]} | ({"subject_id"} if self.kind == "session" else set())
        given = {name for name in _NAMED.values() if getattr(self, name) is not None}
        if given != wanted:
            raise ValueError(f"kind {self.kind} needs {' and '.join(sorted(wanted))} and no other id")
        return self

    def target(self) -> Target:
        """Return the target that the request names."""
        if self.kind == "turn" and self.turn_id is not None:
            return turn_target(self.turn_id)
        if self.kind == "memory" and self.memory_id is not None:
            return memory_target(self.memory_id, shared=self.shared)
        if self.kind == "session" and self.session_id is not None:
            return session_target(self.subject_id, self.session_id)
        return subject_target(self.subject_id or "")


class ErasureAnswer(Answer):
    """The result of an erasure or of its preview."""

    model_config = example(
        {
            "preview": False,
            "turns": 12,
            "counts": {"log.turns": 12, "memory.memories": 9},
            "left": False,
            "receipt": 1,
            "erased_before": None,
        }
    )

    preview: bool
    turns: int = Field(description="Number of turns in the log and in the buffer.")
    counts: dict[str, int] = Field(description="Rows that were deleted or changed, by table.")
    left: bool = Field(description="Whether turns or events of the subject are left. A worker makes its memory again.")
    receipt: int | None = Field(description="Number of the receipt; null for a preview.")
    erased_before: int | None = Field(description="The receipt of an earlier erasure, if there was nothing to erase.")


class ReceiptSeen(Answer):
    """A receipt of an erasure, without content or names."""

    number: int
    id: UUID
    kind: ErasureKind
    counts: dict[str, int]
    erased_at: datetime
    actor: str | None
    hash: str = Field(description="sha256 over the receipt and the hash of the one before, in hex.")


class ReceiptPage(Answer):
    """A page of receipts, in their order."""

    receipts: list[ReceiptSeen]
    next_cursor: str | None = Field(description="Pass this value to get the next page. Null on the last page.")


@router.post(
    "/erasures",
    response_model=ErasureAnswer,
    responses=documented(400, 404, 413, 422),
    summary="Erase what was said",
    name="erase",
)
async def post_erasure(body: ErasureRequest, caller: Admin) -> Response:
    """Erase a subject, a session, a turn or the turns of a memory. Requires the scope admin.

    The data is deleted from the log, from memory, and from caches, kept replies, queues and dead letters. Once a worker
    has rebuilt the rest of the subject's memory, it is as if the data had never been said. The same turns are not taken
    in again. A repeated request returns the receipt of the first.
    """
    eraser = Eraser(
        store=caller.services.batches,
        tenant_id=caller.tenant_id,
        policy=caller.policy,
        count_tokens=caller.services.count_tokens,
        at=now(),
        actor=body.actor or caller.grant.name,
    )
    if not body.preview:
        caller.deadline.committing()  # the thread goes on after the deadline
    await caller.services.journal.flush()  # else a question that waits there would be logged after the erasure
    done = await asyncio.to_thread(eraser.erase, body.target(), preview=body.preview)
    if not body.preview and done.subject_id is not None:
        caller.services.subject_cache.put(caller.tenant_id, done.subject_id, ())
    return answer(_shown(done, preview=body.preview))


@router.get(
    "/erasures",
    response_model=ReceiptPage,
    responses=documented(422),
    summary="List receipts of erasures",
    name="list_erasures",
)
async def get_erasures(caller: Admin, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """List the receipts of the tenant's erasures, oldest first. Requires the scope admin."""
    place = decode_cursor(cursor, int)
    found = await list_receipts(caller.writer(), after=place[0] if place else 0, limit=limit + 1)
    shown, following = page(found, limit, lambda receipt: (str(receipt.number),))
    return answer({"receipts": [_receipt(receipt) for receipt in shown], "next_cursor": following})


def _shown(done: Erased, *, preview: bool) -> dict[str, Any]:
    return {
        "preview": preview,
        "turns": done.turns,
        "counts": dict(done.counts),
        "left": bool(done.left),
        "receipt": done.receipt and done.receipt.number,
        "erased_before": done.before and done.before.number,
    }


def _receipt(receipt: Receipt) -> dict[str, Any]:
    names = ("number", "id", "kind", "erased_at", "actor")
    shown = {name: getattr(receipt, name) for name in names}
    return shown | {"counts": dict(receipt.counts), "hash": receipt.hash.hex()}
