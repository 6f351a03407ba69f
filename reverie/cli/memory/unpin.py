"""`reverie unpin`: a pinned memory is treated like any other again."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.cli.memory.correcting import actor_option, record
from reverie.cli.options import as_of_option, json_option, tenant_option


@click.command("unpin", short_help="Treat a pinned memory like any other again.")
@click.argument("memory")
@actor_option
@tenant_option
@as_of_option("When it is unpinned.")
@json_option
def command(memory: str, actor: str | None, tenant: str | None, as_of: datetime | None, as_json: bool) -> None:
    """Unpin MEMORY, given by its id or the beginning of it. Once a worker or `reverie run` has worked that in, it fades
    and is forgotten like any other, counted from when it was last used.

    \b
    Example:
      reverie unpin 019b8d6a-7f10-8c41-9a2
    """
    record(memory, asked="unpin", tenant=tenant, as_of=as_of, actor=actor, as_json=as_json)
