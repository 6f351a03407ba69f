"""`reverie correct`: mark a memory as wrong, or replace it."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.cli.memory.correcting import SharedOptions, actor_option, record
from reverie.cli.options import as_of_option, json_option, tenant_option


@click.command("correct", short_help="Mark a memory as wrong, or replace it.")
@click.argument("memory")
@click.option("--wrong", is_flag=True, help="The memory is wrong; nothing replaces it.")
@click.option("--replace", "content", metavar="TEXT", help="The memory is wrong; TEXT is right.")
@actor_option
@tenant_option
@as_of_option("Time of the correction.")
@json_option
def command(
    memory: str,
    wrong: bool,
    content: str | None,
    actor: str | None,
    tenant: str | None,
    as_of: datetime | None,
    as_json: bool,
) -> None:
    """Correct MEMORY, an id or the beginning of one. From now on recall and contexts withhold the memory and the turns
    that it was extracted from, and return TEXT instead. A worker or the next `reverie run` then forgets it permanently
    and makes a memory of TEXT. The turns stay in the log, and a rebuild gives the same result.

    \b
    Examples:
      reverie show ana                       # memories and their ids
      reverie correct 019b8d6a-7f10-8c41-9a2 --wrong
      reverie correct 019b8d6a-7f10-8c41-9a2 --replace "Has a beagle named Bruno" --actor dana
    """
    if wrong == (content is not None):
        raise click.UsageError("Give either --wrong or --replace TEXT.")
    options = SharedOptions(tenant, as_of, actor, as_json)
    record(memory, "wrong" if wrong else "replace", options, content=content)
