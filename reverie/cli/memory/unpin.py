"""`reverie unpin`: end the pin of a memory."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.cli.memory.correcting import SharedOptions, actor_option, record
from reverie.cli.options import as_of_option, json_option, tenant_option


@click.command("unpin", short_help="End the pin of a memory.")
@click.argument("memory")
@actor_option
@tenant_option
@as_of_option("Time of the request.")
@json_option
def command(memory: str, actor: str | None, tenant: str | None, as_of: datetime | None, as_json: bool) -> None:
    """Unpin MEMORY, an id or the beginning of one. Once a worker or `reverie run` has applied this, the memory fades
    and is forgotten like any other, counted from its last use.

    \b
    Example:
      reverie unpin 019b8d6a-7f10-8c41-9a2
    """
    record(memory, "unpin", SharedOptions(tenant, as_of, actor, as_json))
