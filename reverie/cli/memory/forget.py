"""`reverie forget`: a memory that is true is not to be remembered."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.cli.memory.correcting import actor_option, record
from reverie.cli.options import as_of_option, json_option, tenant_option


@click.command("forget", short_help="Forget one memory, although it is not wrong.")
@click.argument("memory")
@actor_option
@tenant_option
@as_of_option("When it is forgotten.")
@json_option
def command(memory: str, actor: str | None, tenant: str | None, as_of: datetime | None, as_json: bool) -> None:
    """Forget MEMORY, given by its id or the beginning of it. At once recall and contexts withhold it and the turns that
    it was drawn from; a worker or the next `reverie run` forgets it for good and leaves a tombstone without content.
    The log keeps what was said.

    \b
    Example:
      reverie forget 019b8d6a-7f10-8c41-9a2
    """
    record(memory, asked="forget", tenant=tenant, as_of=as_of, actor=actor, as_json=as_json)
