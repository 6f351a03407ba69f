"""Corrections: what a person says is wrong about memory; it holds in every rebuild (spec E4)."""

from __future__ import annotations

import asyncio
from typing import Literal
from uuid import UUID

from pydantic import Field, model_validator
from starlette.responses import Response

from reverie.api.access import Writer
from reverie.api.answers import answer
from reverie.api.fields import Answer, Body, Text, example, now
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.capture.corrections import MOST_CHARACTERS, correct_memory
from reverie.consolidate.merge import undo

router = routes_of("corrections")


class CorrectionRequest(Body):
    """What is wrong."""

    model_config = example(
        {
            "memory_id": "019b8d6a-7f10-8c41-9a2b-1c6a3f1d2e4f",
            "kind": "replace",
            "content": "Is allergic to walnuts, not to peanuts",
        }
    )

    memory_id: UUID
    kind: Literal["wrong", "replace", "keep_apart"] = Field(
        description="wrong: forget it; replace: forget it, `content` is right; keep_apart: it was merged by mistake."
    )
    content: Text | None = Field(default=None, min_length=1, max_length=MOST_CHARACTERS)

    @model_validator(mode="after")
    def _content_for_a_replacement(self) -> CorrectionRequest:
        if (self.kind == "replace") != (self.content is not None):
            raise ValueError("content goes with kind replace, and only with that")
        return self


class CorrectionAnswer(Answer):
    """That it is on record."""

    model_config = example({"id": "019b8d6a-7f10-8c41-9a2b-3c6a3f1d2e4f", "survivor_id": None})

    id: UUID | None = Field(description="The correction, worked in by the deferred tier; none for keep_apart.")
    survivor_id: UUID | None = Field(description="Of a keep_apart: what it is now apart from, at once.")


@router.post(
    "/corrections",
    response_model=CorrectionAnswer,
    responses=documented(400, 404, 413, 422),
    summary="Correct a memory",
)
async def correct(body: CorrectionRequest, caller: Writer) -> Response:
    """Say that a memory is wrong, what is right instead, or that two were merged that are not the same."""
    if body.kind == "keep_apart":
        survivor = await asyncio.to_thread(
            undo,
            caller.services.batches,
            tenant_id=caller.tenant_id,
            loser_id=body.memory_id,
            policy=caller.policy,
            as_of=now(),
        )
        return answer({"id": None, "survivor_id": survivor})
    steps = correct_memory(
        tenant_id=caller.tenant_id,
        memory_id=body.memory_id,
        policy=caller.policy,
        as_of=now(),
        content=body.content,
    )
    return answer({"id": await caller.write(steps), "survivor_id": None})
