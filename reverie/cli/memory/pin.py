"""`reverie pin`: keep a memory, and consider it in every recall."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.cli.memory.correcting import SharedOptions, actor_option, record
from reverie.cli.options import as_of_option, json_option, tenant_option


@click.command("pin", short_help="Keep a memory, and consider it in every recall.")
@click.argument("memory")
@actor_option
@tenant_option
@as_of_option("Time of the request.")
@json_option
def command(memory: str, actor: str | None, tenant: str | None, as_of: datetime | None, as_json: bool) -> None:
    """Pin MEMORY, an id or the beginning of one. From now on every recall considers it. Once a worker or `reverie run`
    has applied the pin, the memory's importance does not fade, and it is neither forgotten nor compressed.

    \b
    Example:
      reverie pin 019b8d6a-7f10-8c41-9a2
    """
    record(memory, "pin", SharedOptions(tenant, as_of, actor, as_json))
