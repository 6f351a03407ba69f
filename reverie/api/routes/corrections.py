"""Corrections: what a person says of a memory; it holds in every rebuild (spec E4)."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Literal
from uuid import UUID

from pydantic import Field, model_validator
from starlette.responses import Response

from reverie.api.access import Caller, Writer
from reverie.api.answers import answer
from reverie.api.fields import Answer, Body, Name, Text, example, now
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.capture.live.corrections import EFFECT, MOST_CHARACTERS, correct_memory
from reverie.consolidate.merge.undo import undo
from reverie.drive.flush import flush_turns_of
from reverie.errors import NotFoundError

router = routes_of("corrections")

_APART = "At once: both stand for themselves again; neither is merged with the other or ended by it."


class CorrectionRequest(Body):
    """A correction of a memory."""

    model_config = example(
        {
            "memory_id": "019b8d6a-7f10-8c41-9a2b-1c6a3f1d2e4f",
            "kind": "replace",
            "content": "Is allergic to walnuts, not to peanuts",
            "actor": "support: Dana",
        }
    )

    memory_id: UUID
    kind: Literal["wrong", "replace", "forget", "pin", "unpin", "keep_apart"] = Field(
        description="wrong: it is not true, forget it; replace: forget it, `content` is right; forget: it is true and "
        "not to be remembered; pin: keep it and consider it in every recall; unpin: no longer; keep_apart: it was "
        "merged or superseded by mistake."
    )
    content: Text | None = Field(default=None, min_length=1, max_length=MOST_CHARACTERS)
    actor: Name | None = Field(default=None, description="Who makes the correction. Default: the name of the key.")

    @model_validator(mode="after")
    def _content_for_a_replacement(self) -> CorrectionRequest:
        if (self.kind == "replace") != (self.content is not None):
            raise ValueError("content goes with kind replace, and only with that")
        return self


class CorrectionAnswer(Answer):
    """The recorded correction, and when it takes effect."""

    model_config = example(
        {
            "id": "019b8d6a-7f10-8c41-9a2b-3c6a3f1d2e4f",
            "survivor_id": None,
            "replacement_id": "019b8d6a-7f10-8c41-9a2b-4c6a3f1d2e4f",
            "effect": EFFECT["replace"],
        }
    )

    id: UUID | None = Field(description="The correction; none for keep_apart.")
    survivor_id: UUID | None = Field(description="Of a keep_apart: the other memory, which it is now apart from.")
    replacement_id: UUID | None = Field(description="Of a replace: the memory that `content` becomes.")
    effect: str = Field(description="What takes effect with this answer, and what when a worker runs next.")


@router.post(
    "/corrections",
    response_model=CorrectionAnswer,
    responses=documented(400, 404, 413, 422),
    summary="Correct a memory",
    name="correct",
)
async def post_correction(body: CorrectionRequest, caller: Writer) -> Response:
    """Say that a memory is wrong, what is right instead, that it is to be forgotten or kept, or that two were merged
    that are not the same, or that one was superseded and still holds.

    From the answer on recalls, contexts, profiles and lists of memories no longer state what is wrong or to be
    forgotten, neither as a memory nor as the turn that it was drawn from, and give a replacement in its place. The
    deferred tier (a worker) then forgets the memory for good, takes its structured fact back, and makes a memory of the
    replacement. The turn stays in the log. A memory that an acknowledgement told of can be corrected at
    once: the turns that it is made of go to the log first. `effect` says the same in words.
    """
    if body.kind == "keep_apart":
        survivor = await asyncio.to_thread(
            undo,
            caller.services.batches,
            tenant_id=caller.tenant_id,
            loser_id=body.memory_id,
            policy=caller.policy,
            as_of=now(),
        )
        return answer({"id": None, "survivor_id": survivor, "replacement_id": None, "effect": _APART})
    correct = partial(
        correct_memory,
        memory_id=body.memory_id,
        policy=caller.policy,
        as_of=now(),
        asked=body.kind,
        content=body.content,
        actor=body.actor or caller.grant.name,
    )
    try:
        made = await correct(caller.writer())
    except NotFoundError:
        if not await _flushed(body.memory_id, caller):
            raise
        made = await correct(caller.writer())
    return answer(
        {"id": made.id, "survivor_id": None, "replacement_id": made.replacement_id, "effect": made.effect},
    )


async def _flushed(memory_id: UUID, caller: Caller) -> bool:
    """Whether turns waited of which the memory may be made; they are in the log now."""
    flush = partial(
        flush_turns_of,
        caller.services.batches,
        memory_id,
        tenant_id=caller.tenant_id,
        policy=caller.policy,
        as_of=now(),
        count_tokens=caller.services.count_tokens,
        driver="api",
    )
    return await asyncio.to_thread(flush)
