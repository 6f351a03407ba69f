"""`reverie correct`: a memory is wrong, and what is right instead."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.cli.memory.correcting import actor_option, record
from reverie.cli.options import as_of_option, json_option, tenant_option


@click.command("correct", short_help="Say that a memory is wrong, or what is right instead.")
@click.argument("memory")
@click.option("--wrong", is_flag=True, help="It is not true, and nothing replaces it.")
@click.option("--replace", "content", metavar="TEXT", help="It is not true; TEXT is.")
@actor_option
@tenant_option
@as_of_option("When it is corrected.")
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
    """Correct MEMORY, given by its id or the beginning of it. At once recall and contexts withhold it and the turns
    that it was drawn from, and give TEXT in its place. A worker or the next `reverie run` then forgets it for good and
    makes a memory of TEXT. The turns stay in the log, and a rebuild comes to the same.

    \b
    Examples:
      reverie show ana                       # memories and their ids
      reverie correct 019b8d6a-7f10-8c41-9a2 --wrong
      reverie correct 019b8d6a-7f10-8c41-9a2 --replace "Has a beagle named Bruno" --actor dana
    """
    if wrong == (content is not None):
        raise click.UsageError("Give either --wrong or --replace TEXT.")
    record(
        memory,
        asked="wrong" if wrong else "replace",
        content=content,
        tenant=tenant,
        as_of=as_of,
        actor=actor,
        as_json=as_json,
    )
