"""Triggers and signals: reasons to act for a subject, and the figures behind them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Reader, Writer
from reverie.api.answers import answer
from reverie.api.fields import Answer, AsOf, Body, Cursor, Limit, Name, Subject, example, now
from reverie.api.paging import decode_cursor, page
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.capture.live.acknowledgements import acknowledge_trigger
from reverie.model import bounded_time
from reverie.recall.signals.triggers import (
    ContactStanding,
    SignalRow,
    Trigger,
    list_signals,
    list_triggers,
    read_standing,
)

router = routes_of("triggers")


class TriggerPage(Answer):
    """A page of triggers, the next due first."""

    triggers: list[Trigger]
    next_cursor: str | None = Field(description="Pass this value to get the next page. Null on the last page.")


class Acknowledgement(Body):
    """The action that was taken on a trigger."""

    model_config = example({"action": "done", "actor": "outreach-bot"})

    action: Literal["done", "dismissed"] = Field(
        description="done: it was acted upon; dismissed: it was not, on purpose."
    )
    actor: Name | None = Field(default=None, description="Who acted. Default: the name of the key.")


class AcknowledgedAnswer(Answer):
    """The acknowledgement is recorded."""

    model_config = example({"trigger_id": "019b8d6a-7f10-8c41-9a2b-2c6a3f1d2e4f", "subject_id": "ana"})

    trigger_id: UUID
    subject_id: str


class SubjectSignalsAnswer(Answer):
    """A subject's standing and figures, the latest first."""

    standing: ContactStanding
    figures: list[SignalRow]


@router.get(
    "/triggers",
    response_model=TriggerPage,
    responses=documented(422),
    summary="List triggers that are due",
    name="list_triggers",
)
async def get_triggers(
    caller: Reader,
    subject_id: Annotated[Name | None, Query(description="Only this subject. Default: all subjects.")] = None,
    as_of: AsOf = None,
    every: Annotated[bool, Query(description="Include upcoming, past, withheld and acknowledged triggers.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List reasons to act that are due and that nobody has acknowledged: what, why, for whom, until when.

    `audience` says who is to act. A trigger for a person, such as after signs of a crisis, must never lead to an
    automatic message.
    """
    place = decode_cursor(cursor, _aware, UUID)
    after = (place[0], place[1]) if place else None
    found = await list_triggers(
        caller.primary_reader(), subject_id=subject_id, as_of=as_of or now(), every=every, after=after, limit=limit + 1
    )
    shown, following = page(found, limit, lambda each: (each.due_at.isoformat(), each.id))
    return answer({"triggers": shown, "next_cursor": following})


@router.post(
    "/triggers/{trigger_id}/acknowledge",
    response_model=AcknowledgedAnswer,
    responses=documented(400, 404, 422),
    summary="Acknowledge a trigger",
    name="acknowledge_trigger",
)
async def post_acknowledgement(trigger_id: UUID, body: Acknowledgement, caller: Writer) -> Response:
    """Record that a trigger was acted upon or dismissed. It is no longer listed or sent; the first record stays."""
    actor = body.actor or caller.grant.name
    subject_id = await acknowledge_trigger(caller.writer(), trigger_id, action=body.action, acted_at=now(), actor=actor)
    return answer({"trigger_id": trigger_id, "subject_id": subject_id})


@router.get(
    "/signals",
    response_model=SubjectSignalsAnswer,
    responses=documented(404, 422),
    summary="Get the signals of a subject",
    name="get_signals",
)
async def get_signals(
    caller: Reader,
    subject_id: Subject,
    as_of: AsOf = None,
    weekly: Annotated[bool, Query(description="Figures by week instead of by day.")] = False,
    limit: Limit = 50,
) -> Response:
    """Get how a subject stands (usual hours, strength of the tie, churn risk, difficult period, stages of the
    relationship), and its figures by day or week.
    """
    at = as_of or now()
    standing = await read_standing(caller.primary_reader(), subject_id=subject_id, as_of=at)
    figures = await list_signals(caller.primary_reader(), subject_id=subject_id, as_of=at, weekly=weekly, limit=limit)
    return answer({"standing": standing, "figures": figures})


def _aware(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError
    return bounded_time(at)
