"""`reverie keys`: create, list and revoke API keys."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import SHORT_ID, format_value, note, pairs, print_json, say, table
from reverie.cli.session import CommandSession

if TYPE_CHECKING:
    from reverie.api.keys import ApiKey


@click.group("keys", short_help="Create, list and revoke API keys.")
def command() -> None:
    """Create, list and revoke API keys. Each belongs to one tenant and permits reading, writing or everything (admin).

    \b
    Examples:
      reverie keys add shop --tenant demo
      reverie keys list --tenant demo
      reverie keys revoke 7a1b2c3d --tenant demo
    """


@command.command("add")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(["read", "write", "admin"]),
    help="What the key permits; repeatable. [default: read and write]",
)
@click.option(
    "--days", type=click.IntRange(min=1, max=36_500), metavar="N", help="Days until the key expires. [default: never]"
)
@tenant_option
@json_option
def add(name: str, scopes: tuple[str, ...], days: int | None, tenant: str | None, as_json: bool) -> None:
    """Create a key called NAME and print it. It is printed only now: the database keeps only its sha256.

    \b
    Examples:
      reverie keys add shop --tenant demo
      reverie keys add dashboards --scope read --days 90
    """
    from reverie.api.keys import add_key
    from reverie.store.session import perform

    at = datetime.now(UTC)
    with CommandSession(tenant) as session:
        made = add_key(
            session.worker.session(session.tenant_id),
            name=name,
            scopes=scopes or ("read", "write"),  # type: ignore[arg-type]
            policy=session.new_tenant_policy,
            made_at=at,
            expires_at=at + timedelta(days=days) if days else None,
        )
        key, text = perform(made)
    if as_json:
        print_json({"tenant_id": session.tenant_id, "id": key.id, "name": key.name, "key": text})
    else:
        say(text)
        revoking = f"reverie keys revoke {str(key.id)[:SHORT_ID]} --tenant {session.tenant_id}"
        note(f"Store it safely: it is shown only now. To revoke it: {revoking}")


@command.command("list")
@tenant_option
@json_option
def list_api_keys(tenant: str | None, as_json: bool) -> None:
    """List the tenant's keys by id and name. The keys themselves are never printed."""
    from reverie.api.keys import list_keys
    from reverie.store.session import perform

    with CommandSession(tenant) as session:
        keys = perform(list_keys(session.worker.session(session.tenant_id)))
    if as_json:
        print_json({"tenant_id": session.tenant_id, "keys": keys})
    elif not keys:
        say(f"Tenant {session.tenant_id} has no keys: reverie keys add NAME --tenant {session.tenant_id}")
    else:
        rows = [(key.id, key.name, ", ".join(key.scopes), format_value(key.made_at), _state(key)) for key in keys]
        table(("id", "name", "scopes", "created", "state"), rows, ids=("name",))


@command.command("revoke")
@click.argument("key")
@tenant_option
@json_option
def revoke(key: str, tenant: str | None, as_json: bool) -> None:
    """Revoke KEY, an id or the beginning of one. A running server accepts the key for up to five more seconds."""
    from reverie.api.keys import revoke_key
    from reverie.store.session import perform

    with CommandSession(tenant) as session:
        tenant_session = session.worker.session(session.tenant_id)
        revoked = perform(revoke_key(tenant_session, key, revoked_at=datetime.now(UTC)))
    if as_json:
        print_json({"tenant_id": session.tenant_id, "key": revoked})
    else:
        pairs([("revoked", revoked.name), ("id", str(revoked.id)), ("since", format_value(revoked.revoked_at))])


def _state(key: ApiKey) -> str:
    if key.revoked_at:
        return f"revoked {format_value(key.revoked_at)}"
    if key.expires_at:
        return f"until {format_value(key.expires_at)}"
    return "active"
