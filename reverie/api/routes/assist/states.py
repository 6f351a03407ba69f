"""The feed of subjects' states, for an estimator that polls it (spec F4; Agent 6.1)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Reader
from reverie.api.answers import answer
from reverie.api.fields import Answer, Limit, Name, example, now
from reverie.api.paging import decode_cursor, encode_cursor
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.recall.assist.states import poll_states

router = routes_of("assisting")


class StateSeen(Answer):
    """A version of a subject's state."""

    id: UUID = Field(description="Stays the same when the subject is erased.")
    subject_id: str | None = Field(description="Null: the subject was erased. Drop what you hold under `id`.")
    version: int = Field(description="Counts the changes that were noticed, from 1.")
    changed_at: datetime = Field(description="When the change was noticed.")
    state: dict[str, Any] | None = Field(
        description="facts, aims, rules and scaffold with their ids; narrative, mood, tie, difficult_since, "
        "relationship. Null: recall is off, or the subject was erased."
    )
    left_out: int = Field(description="Number of parts that are sensitive and were left out.")


class StatePage(Answer):
    """States that changed since the cursor."""

    model_config = example(
        {
            "states": [
                {
                    "id": "5f0c1f9e-6c0e-4a0e-9a53-0a86c1f6a2b1",
                    "subject_id": "ana",
                    "version": 4,
                    "changed_at": "2026-03-02T09:00:00Z",
                    "state": {
                        "facts": [],
                        "aims": [{"id": "019b8d6a-7f10-8c41-9a2b-2c6a3f1d2e4f", "content": "Wants to learn Welsh"}],
                        "rules": [],
                        "scaffold": [],
                        "narrative": None,
                        "mood": None,
                        "tie": None,
                        "difficult_since": None,
                        "relationship": None,
                    },
                    "left_out": 0,
                }
            ],
            "cursor": "WyI0MiJd",
            "more": False,
        }
    )

    states: list[StateSeen]
    cursor: str = Field(description="Pass this value the next time, even where nothing changed.")
    more: bool = Field(description="Whether to ask again at once.")


@router.get(
    "/states",
    response_model=StatePage,
    responses=documented(422),
    summary="Poll the states of subjects",
    name="poll_states",
)
async def get_states(
    caller: Reader,
    cursor: Annotated[
        str | None, Query(max_length=2000, description="`cursor` of the previous answer. Default: the beginning.")
    ] = None,
    subject_id: Annotated[
        list[Name] | None, Query(max_length=100, description="Only these subjects. Default: all of the tenant.")
    ] = None,
    limit: Limit = 50,
) -> Response:
    """Return the latest state of each subject whose state changed since the cursor, in the order of the changes.

    A change is noticed by the first request after it; a state that changed twice in between has one version.
    """
    place = decode_cursor(cursor, _position)
    after = place[0] if place else 0
    found = await poll_states(
        caller.writer(),
        after=after,
        subjects=subject_id,
        now=now(),
        limit=limit + 1,
        sensitivity=caller.policy.sensitivity,
    )
    shown = found[:limit]
    last = shown[-1].position if shown else after
    return answer({"states": shown, "cursor": encode_cursor(str(last)), "more": len(found) > limit})


def _position(text: str) -> int:
    position = int(text)
    if not 0 <= position < 1 << 63:
        raise ValueError
    return position
