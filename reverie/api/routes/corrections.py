"""Corrections of memories by a person; they hold in every rebuild (spec E4)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
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
from reverie.capture.live.corrections import (
    EFFECT,
    MOST_CHARACTERS,
    Corrected,
    CorrectionAsked,
    correct_memory,
    retract_correction,
)
from reverie.consolidate.merge.undo import undo
from reverie.drive.flush import flush_turns_of
from reverie.errors import NotFoundError

router = routes_of("corrections")

_APART = "At once: both are separate memories again; neither is merged with or ended by the other."


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
    kind: Literal["wrong", "replace", "forget", "pin", "unpin", "keep_apart", "retract"] = Field(
        description="wrong: it is not true and is forgotten; replace: it is forgotten, and `content` is correct; "
        "forget: it is true, but must not be remembered; pin: keep it and consider it in every recall; unpin: undo a "
        "pin; keep_apart: it was merged or superseded by mistake; retract: take back its latest correction (wrong, "
        "replace, forget or keep_apart). `memory_id` may then also be the replacement."
    )
    content: Text | None = Field(default=None, min_length=1, max_length=MOST_CHARACTERS)
    actor: Name | None = Field(default=None, description="Who makes the correction. Default: the name of the key.")
    subject_id: Name | None = Field(
        default=None,
        description="The subject that the memory must be of; for another one it does not exist. Default: any. "
        "Not with keep_apart.",
    )

    @model_validator(mode="after")
    def _content_for_a_replacement(self) -> CorrectionRequest:
        if (self.kind == "replace") != (self.content is not None):
            raise ValueError("kind replace needs content; other kinds must not have it")
        if self.kind == "keep_apart" and self.subject_id is not None:
            raise ValueError("kind keep_apart takes no subject_id")
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

    id: UUID | None = Field(description="The correction; null for keep_apart.")
    survivor_id: UUID | None = Field(description="With keep_apart: the other memory.")
    replacement_id: UUID | None = Field(description="With replace: the memory that `content` becomes.")
    effect: str = Field(
        description="Changes that take effect with this response, and those that wait for the next worker run."
    )


@router.post(
    "/corrections",
    response_model=CorrectionAnswer,
    responses=documented(400, 404, 413, 422),
    summary="Correct a memory",
    name="correct",
)
async def post_correction(body: CorrectionRequest, caller: Writer) -> Response:
    """Correct a memory: mark it as wrong, replace it, forget it, pin it, undo a merge or supersession, or retract.

    The correction takes effect with the response: recalls, contexts, profiles and lists of memories no longer state a
    memory that is wrong or to be forgotten, nor the turn that it was extracted from. A replacement is returned in its
    place. The deferred tier (a worker) then forgets the memory permanently, removes its structured fact and makes a
    memory of the replacement. The turn stays in the log. A memory that an acknowledgement named can be corrected
    immediately: its source turns are moved to the log first. `effect` says the same in words.
    """
    if body.kind == "keep_apart":
        caller.deadline.committing()  # the thread goes on after the deadline
        survivor = await asyncio.to_thread(
            undo,
            caller.services.batches,
            tenant_id=caller.tenant_id,
            loser_id=body.memory_id,
            policy=caller.policy,
            as_of=now(),
            actor=body.actor or caller.grant.name,
        )
        return answer({"id": None, "survivor_id": survivor, "replacement_id": None, "effect": _APART})
    actor = body.actor or caller.grant.name
    if body.kind == "retract":
        retracted = retract_correction(
            caller.writer(),
            memory_id=body.memory_id,
            policy=caller.policy,
            as_of=now(),
            subject_id=body.subject_id,
            actor=actor,
        )
        return _answer(await retracted)
    asked = CorrectionAsked(
        memory_id=body.memory_id,
        subject_id=body.subject_id,
        asked=body.kind,
        content=body.content,
        actor=actor,
    )
    correct = partial(correct_memory, policy=caller.policy, as_of=now())
    try:
        made = await correct(caller.writer(), asked)
    except NotFoundError:
        memory_id = await _flushed(body.memory_id, caller)
        if memory_id is None:
            raise
        made = await correct(caller.writer(), replace(asked, memory_id=memory_id))
    return _answer(made)


def _answer(made: Corrected) -> Response:
    return answer(
        {"id": made.id, "survivor_id": None, "replacement_id": made.replacement_id, "effect": made.effect},
    )


async def _flushed(memory_id: UUID, caller: Caller) -> UUID | None:
    """Move waiting turns that the memory may be made of to the log; return the memory's id, None if it has none."""
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
