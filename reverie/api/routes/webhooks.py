"""Webhooks: the addresses that a tenant's events are sent to, for administrators."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from reverie.api.access import Admin
from reverie.api.answers import answer
from reverie.api.fields import Answer, Body, Text, example, now
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.drive.deliver.subscriptions import (
    EventName,
    Subscription,
    add_subscription,
    end_subscription,
    list_subscriptions,
    replay_dead,
)

router = routes_of("webhooks")


class WebhookRequest(Body):
    """A webhook."""

    model_config = example({"url": "https://example.org/hooks/reverie", "events": ["trigger.due", "memory.forgotten"]})

    url: Annotated[Text, Field(min_length=1, max_length=2000, description="Where events are sent, by POST.")]
    events: list[EventName] = Field(min_length=1, description="The events to send.")


class WebhookAnswer(Answer):
    """The webhook, with the secret of its signatures. The secret is shown only now."""

    model_config = example({"id": "7d0f0a34-6b0c-4f1e-9d3f-0a3c5b8e2f11", "secret": "whsec_…"})

    id: UUID
    secret: str


class WebhookList(Answer):
    """The webhooks of the tenant, those in force first."""

    webhooks: list[Subscription]


class WebhookEnded(Answer):
    """The webhook is ended."""

    id: UUID


class WebhookReplayed(Answer):
    """Messages that are sent again."""

    messages: int


@router.post(
    "/webhooks",
    response_model=WebhookAnswer,
    responses=documented(400, 413, 422),
    summary="Create a webhook",
    name="add_webhook",
)
async def post_webhook(body: WebhookRequest, caller: Admin) -> Response:
    """Have events sent to a URL. Requests are signed as Standard Webhooks describes. Requires the scope admin."""
    id_, secret = await add_subscription(
        caller.writer(),
        url=body.url,
        events=body.events,
        made_at=now(),
        private_hosts=caller.services.settings.webhook_private_hosts,
    )
    return answer({"id": id_, "secret": secret})


@router.get(
    "/webhooks",
    response_model=WebhookList,
    responses=documented(422),
    summary="List webhooks with message counts",
    name="list_webhooks",
)
async def get_webhooks(caller: Admin) -> Response:
    """List webhooks with counts of messages that wait, were delivered and were given up. Requires the scope admin."""
    return answer({"webhooks": await list_subscriptions(caller.writer())})


@router.delete(
    "/webhooks/{webhook_id}",
    response_model=WebhookEnded,
    responses=documented(404, 422),
    summary="End a webhook",
    name="end_webhook",
)
async def delete_webhook(webhook_id: UUID, caller: Admin) -> Response:
    """End a webhook. Messages that wait for it are dropped. Requires the scope admin."""
    await end_subscription(caller.writer(), webhook_id, at=now())
    return answer({"id": webhook_id})


@router.post(
    "/webhooks/{webhook_id}/replay",
    response_model=WebhookReplayed,
    responses=documented(422),
    summary="Replay dead letters of a webhook",
    name="replay_webhook",
)
async def post_replay(webhook_id: UUID, caller: Admin) -> Response:
    """Retry the messages that were given up. Requires the scope admin."""
    return answer({"messages": await replay_dead(caller.writer(), webhook_id, at=now())})
