"""`reverie forget`: forget a memory that is not wrong."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.cli.memory.correcting import SharedOptions, actor_option, record
from reverie.cli.options import as_of_option, json_option, tenant_option


@click.command("forget", short_help="Forget a memory that is not wrong.")
@click.argument("memory")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@actor_option
@tenant_option
@as_of_option("Time of the request.")
@json_option
def command(
    memory: str, yes: bool, actor: str | None, tenant: str | None, as_of: datetime | None, as_json: bool
) -> None:
    """Forget MEMORY, an id or the beginning of one. From now on recall and contexts withhold the memory and the turns
    that it was extracted from. A worker or the next `reverie run` forgets it permanently and leaves a tombstone without
    content. The turns stay in the log.

    In a terminal it shows the memory and asks first. Without a terminal, the beginning of an id needs --yes.

    \b
    Example:
      reverie forget 019b8d6a-7f10-8c41-9a2
    """
    record(memory, "forget", SharedOptions(tenant, as_of, actor, as_json), asks=not yes)
