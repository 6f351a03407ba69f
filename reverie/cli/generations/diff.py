"""`reverie diff`: show what differs between two memories of a tenant."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.generations.live import live_memory
from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import heading, print_json, say, table
from reverie.cli.session import CommandSession

if TYPE_CHECKING:
    from reverie.generations.differing import Side


class SideName(click.ParamType[Any]):
    """`live`, or the number of a generation."""

    name = "side"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Side:
        """Return the side, or fail."""
        if value == "live":
            return "live"
        if not str(value).isdigit() or not int(value):
            self.fail(f"{value!r} is neither 'live' nor the number of a generation.", param, ctx)
        return int(value)


@click.command("diff", short_help="Show the differences between two memories of a tenant.")
@click.argument("first", type=SideName(), metavar="A")
@click.argument("second", type=SideName(), metavar="B")
@tenant_option
@click.option(
    "--questions",
    type=click.IntRange(0, 100_000),
    metavar="NUMBER",
    help="How many of the tenant's latest logged questions to ask of both. [default: the policy's]",
)
@click.option(
    "--examples",
    type=click.IntRange(0, 1000),
    default=0,
    metavar="NUMBER",
    help="How many changes of each kind to show, in the words of users. [default: 0]",
)
@json_option
def command(first: Side, second: Side, tenant: str | None, questions: int | None, examples: int, as_json: bool) -> None:
    """Say how B differs from A: in memories, structured facts, profiles, and answers to logged questions.

    A and B are `live` or the number of a generation. A memory counts as reworded if it comes from the same turns in
    other words, and as restated if it is in another state or in force for another time.

    \b
    Examples:
      reverie diff live 3 --tenant demo
      reverie diff live 3 --tenant demo --examples 5 --questions 500
    """
    from reverie.generations.differing import difference
    from reverie.inference.loading import load_embedder

    with CommandSession(tenant) as session:
        live = live_memory(session, None, jobs=min(2, session.settings.threads))
        found = difference(
            live,
            (first, second),
            questions=live.work.policy.publish.questions if questions is None else questions,
            examples=examples,
            embedder_of=partial(load_embedder, threads=session.settings.threads),
        )
    shown = found.examples(examples) if examples else {}
    if as_json:
        print_json({"tenant_id": live.tenant_id, "first": first, "second": second} | found.counts() | shown)
        return
    table(("what", "number"), [(name.replace("_", " "), number) for name, number in found.counts().items()],
          right=("number",))  # fmt: skip
    for name, rows in shown.items():
        if rows:
            say()
            heading(name.replace("_", " ").capitalize())
            _show(name, rows)


def _show(name: str, rows: list[dict[str, Any]]) -> None:
    if name != "answers":
        columns = tuple(rows[0])
        table(columns, [tuple("" if value is None else value for value in row.values()) for row in rows])
        return
    for row in rows:
        say(f"{row['subject_id']}: {row['question']}")
        for side in ("before", "after"):
            for hit in row[side]:
                moved = "new here" if hit["other_rank"] is None else f"there {hit['other_rank']}"
                say(f"  {side} {hit['rank']}. ({moved}) {hit['content']}")
