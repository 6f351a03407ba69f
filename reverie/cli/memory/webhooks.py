"""`reverie webhooks`: create, list and end webhooks, deliver messages, and replay those that were given up."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from uuid import UUID

import click

from reverie.cli.options import as_of_option, json_option, tenant_option
from reverie.cli.output import format_value, note, pairs, print_json, say, table
from reverie.cli.session import CommandSession

#: The events of `reverie.drive.deliver.subscriptions`, repeated here so that `--help` does not import it.
_EVENTS = ("trigger.due", "memory.created", "memory.superseded", "memory.forgotten", "memory.erased")


@click.group("webhooks", short_help="Send triggers and changes of memories to other systems.")
def command() -> None:
    """Create, list and end webhooks, deliver messages, and replay those that were given up (docs/signals.md).

    \b
    Examples:
      reverie webhooks add https://example.org/hook --event trigger.due --tenant demo
      reverie webhooks deliver --tenant demo
      reverie webhooks replay --tenant demo
    """


@command.command("add")
@click.argument("url")
@click.option(
    "--event", "events", multiple=True, required=True, type=click.Choice(_EVENTS), help="An event to send; repeatable."
)
@tenant_option
@json_option
def add_webhook(url: str, events: tuple[str, ...], tenant: str | None, as_json: bool) -> None:
    """Send events to URL, and print the secret that signs them. It is printed only now."""
    from reverie.drive.deliver.subscriptions import add_subscription
    from reverie.store.session import perform

    with CommandSession(tenant) as session:
        session.require_tenant()
        made = add_subscription(
            session.worker.session(session.tenant_id),
            url=url,
            events=events,  # type: ignore[arg-type]
            made_at=datetime.now(UTC),
            private_hosts=session.settings.webhook_private_hosts,
        )
        id_, secret = perform(made)
    if as_json:
        print_json({"tenant_id": session.tenant_id, "id": id_, "secret": secret})
    else:
        say(secret)
        note(f"Store it safely: it is shown only now. To end the webhook: reverie webhooks end {id_}")


@command.command("list")
@tenant_option
@json_option
def list_webhooks(tenant: str | None, as_json: bool) -> None:
    """List the tenant's webhooks, each with its messages that wait, were delivered and were given up."""
    from reverie.drive.deliver.subscriptions import list_subscriptions
    from reverie.store.session import perform

    with CommandSession(tenant) as session:
        session.require_tenant()
        found = perform(list_subscriptions(session.worker.session(session.tenant_id)))
    if as_json:
        print_json({"tenant_id": session.tenant_id, "webhooks": found})
    elif not found:
        say("There are no webhooks: reverie webhooks add URL --event trigger.due")
    else:
        rows = [
            (
                str(each.id),
                each.url,
                ", ".join(each.events),
                each.waiting,
                each.delivered,
                each.dead,
                f"ended {format_value(each.ended_at)}" if each.ended_at else "active",
            )
            for each in found
        ]
        table(("id", "url", "events", "waiting", "delivered", "given up", "state"), rows, ids=("id", "url"))


@command.command("end")
@click.argument("webhook", type=click.UUID)
@tenant_option
@json_option
def end_webhook(webhook: UUID, tenant: str | None, as_json: bool) -> None:
    """End WEBHOOK, an id. Messages that wait for it are dropped."""
    from reverie.drive.deliver.subscriptions import end_subscription
    from reverie.store.session import perform

    with CommandSession(tenant) as session:
        session.require_tenant()
        perform(end_subscription(session.worker.session(session.tenant_id), webhook, at=datetime.now(UTC)))
    if as_json:
        print_json({"tenant_id": session.tenant_id, "id": webhook})
    else:
        say(f"Ended {webhook}.")


@command.command("deliver")
@tenant_option
@as_of_option("Send what is due at this time.")
@json_option
def deliver_now(tenant: str | None, as_of: datetime | None, as_json: bool) -> None:
    """Send what is due to the tenant's webhooks. A message that fails is sent again later, ten times at most."""
    from reverie.drive.deliver.delivering import deliver
    from reverie.drive.deliver.sending import require_packages, send_by_http

    require_packages()
    with CommandSession(tenant) as session:
        session.require_tenant()
        counts = deliver(
            session.worker,
            session.tenant_id,
            as_of=session.time(as_of),
            clock=lambda: datetime.now(UTC),
            send=partial(send_by_http, private_hosts=session.settings.webhook_private_hosts),
        )
    if as_json:
        print_json({"tenant_id": session.tenant_id} | counts)
    else:
        pairs([(name, str(number)) for name, number in counts.items()])


@command.command("replay")
@click.argument("webhook", type=click.UUID, required=False)
@tenant_option
@json_option
def replay_webhooks(webhook: UUID | None, tenant: str | None, as_json: bool) -> None:
    """Send again the messages that were given up: those of WEBHOOK, an id, or all."""
    from reverie.drive.deliver.subscriptions import replay_dead
    from reverie.store.session import perform

    with CommandSession(tenant) as session:
        session.require_tenant()
        number = perform(replay_dead(session.worker.session(session.tenant_id), webhook, at=datetime.now(UTC)))
    if as_json:
        print_json({"tenant_id": session.tenant_id, "messages": number})
    else:
        say(f"{number:,} messages are sent again: reverie webhooks deliver")
