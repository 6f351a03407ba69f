"""`reverie keys`: who may call the API, and for what."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import SHORT_ID, format_value, note, pairs, print_json, say, table
from reverie.cli.session import Session

if TYPE_CHECKING:
    from reverie.api.keys import ApiKey


@click.group("keys", short_help="Make, list and revoke keys of the API.")
def command() -> None:
    """Keys let callers of the API in. Each belongs to one tenant and is for reading, writing or everything (admin).

    \b
    Examples:
      reverie keys add shop --tenant demo
      reverie keys list --tenant demo
      reverie keys revoke 7a1b2c3d --tenant demo
    """


@command.command("add")
@click.argument("name")
@click.option(
    "--scope", "scopes", multiple=True, type=click.Choice(["read", "write", "admin"]), help="[default: read and write]"
)
@click.option(
    "--days", type=click.IntRange(min=1, max=36_500), metavar="N", help="How long it lasts. [default: for ever]"
)
@tenant_option
@json_option
def add(name: str, scopes: tuple[str, ...], days: int | None, tenant: str | None, as_json: bool) -> None:
    """Make a key called NAME and print it, this once: only its sha256 is kept.

    \b
    Examples:
      reverie keys add shop --tenant demo
      reverie keys add dashboards --scope read --days 90
    """
    from reverie.api.keys import making_key
    from reverie.store.steps import perform

    at = datetime.now(UTC)
    with Session(tenant) as session:
        steps = making_key(
            session.tenant_id,
            name=name,
            scopes=scopes or ("read", "write"),  # type: ignore[arg-type]
            policy=session.new_tenant_policy,
            made_at=at,
            expires_at=at + timedelta(days=days) if days else None,
        )
        key, text = perform(session.worker, session.tenant_id, steps)
    if as_json:
        print_json({"tenant_id": session.tenant_id, "id": key.id, "name": key.name, "key": text})
    else:
        say(text)
        note(f"Keep it: it is shown only now. Revoke it: reverie keys revoke {str(key.id)[:SHORT_ID]}")


@command.command("list")
@tenant_option
@json_option
def list_keys(tenant: str | None, as_json: bool) -> None:
    """List the tenant's keys: never the keys themselves."""
    from reverie.api.keys import listing_keys
    from reverie.store.steps import perform

    with Session(tenant) as session:
        keys = perform(session.worker, session.tenant_id, listing_keys(session.tenant_id))
    if as_json:
        print_json({"tenant_id": session.tenant_id, "keys": keys})
    elif not keys:
        say(f"Tenant {session.tenant_id} has no keys: reverie keys add NAME")
    else:
        rows = [(key.id, key.name, ", ".join(key.scopes), format_value(key.made_at), _standing(key)) for key in keys]
        table(("id", "name", "for", "made", "standing"), rows, ids=("name",))


@command.command("revoke")
@click.argument("key")
@tenant_option
@json_option
def revoke(key: str, tenant: str | None, as_json: bool) -> None:
    """End KEY, given by its id or the beginning of it. A running server believes it for up to five seconds more."""
    from reverie.api.keys import revoking_key
    from reverie.store.steps import perform

    with Session(tenant) as session:
        steps = revoking_key(session.tenant_id, key, revoked_at=datetime.now(UTC))
        revoked = perform(session.worker, session.tenant_id, steps)
    if as_json:
        print_json({"tenant_id": session.tenant_id, "key": revoked})
    else:
        pairs([("revoked", revoked.name), ("id", str(revoked.id)), ("since", format_value(revoked.revoked_at))])


def _standing(key: ApiKey) -> str:
    if key.revoked_at:
        return f"revoked {format_value(key.revoked_at)}"
    if key.expires_at:
        return f"until {format_value(key.expires_at)}"
    return "in force"
