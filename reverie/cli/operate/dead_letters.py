"""`reverie dead-letters`: what could not be taken in, and another try."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reverie.cli.operate.importing import map_option, subject_option, timezone_option
from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import heading, pairs, print_json, say, table
from reverie.cli.session import Session

if TYPE_CHECKING:
    from reverie.store.dead_letters import LetterGroup

file_option = click.option("--file", "source", metavar="NAME", help="Only of this file.")
reason_option = click.option("--reason", metavar="CODE", help="Only for this reason.")


@click.group("dead-letters", invoke_without_command=True, short_help="See what could not be taken in; try it again.")
@click.pass_context
def command(ctx: click.Context) -> None:
    """See the records that could not be taken in, with file, line and reason, and try them again.

    \b
    Examples:
      reverie dead-letters
      reverie dead-letters list --file chats.csv --reason naive_time --each
      reverie dead-letters show 00000000-0000-8c41-93aa-5d0e6b7f2a18
      reverie dead-letters redrive --reason naive_time --timezone Europe/Berlin
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_letters)


@command.command("list", short_help="Show them by reason, without their content.")
@tenant_option
@file_option
@reason_option
@click.option("--each", "one_by_one", is_flag=True, help="A row a record instead of one a file and reason.")
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(min=1), help="At most so many records, with --each."
)
@json_option
def list_letters(
    tenant: str | None = None,
    source: str | None = None,
    reason: str | None = None,
    one_by_one: bool = False,
    limit: int = 50,
    as_json: bool = False,
) -> None:
    """Show dead letters by file and reason: how many, and of the first ones the lines and what is wrong. With --each in
    the order of their files and lines. Never with their content. JSON has both.
    """
    from reverie.store.dead_letters import LetterFilter, count_dead_letters, group_dead_letters, list_dead_letters

    with Session(tenant) as session:
        where = LetterFilter(source=source, reason=reason)
        groups = group_dead_letters(session.worker, session.tenant_id, where=where)
        letters = list_dead_letters(session.worker, session.tenant_id, where=where, limit=limit)
        counts = count_dead_letters(session.worker, session.tenant_id, source=source)
    if as_json:
        found = {"by_reason": counts, "groups": groups, "dead_letters": letters}
        print_json({"tenant_id": session.tenant_id} | found)
    elif not letters:
        say(f"No dead letters of tenant {session.tenant_id}.")
    elif not one_by_one:
        grouped = [(each.letters, each.reason, each.source, _lines(each), each.detail) for each in groups]
        table(("records", "reason", "file", "lines", "the first"), grouped, right=("records",))
        say("\nMend the file and import it again, or: reverie dead-letters redrive. Record by record, with ids: --each")
    else:
        columns = ("file", "line", "reason", "what is wrong", "tries", "id")
        rows = [(each.source, each.line, each.reason, each.detail, each.attempts, str(each.id)) for each in letters]
        table(columns, rows, right=("line", "tries"), ids=("file",))
        total = sum(number for code, number in counts.items() if reason in (None, code))
        say(f"\n{len(letters):,} of {total:,}. Mend the file and import it again, or: reverie dead-letters redrive")
        say("One with its record: reverie dead-letters show ID")


def _lines(group: LetterGroup) -> str:
    """The first lines, with an ellipsis where there are more."""
    return ", ".join(f"{line}" for line in group.lines) + (", ..." if group.letters > len(group.lines) else "")


@command.command("show", short_help="Show one with its content.")
@click.argument("letter", metavar="ID")
@tenant_option
@json_option
def show_letter(letter: str, tenant: str | None, as_json: bool) -> None:
    """Show the dead letter ID, or the one whose id begins with ID, together with the record as it came. The record may
    hold what somebody said.

    \b
    Example:
      reverie dead-letters show 00000000-0000-8c41-93aa-5d0e6b7f2a18 --tenant demo
    """
    from reverie.store.dead_letters import KEPT_BYTES, read_dead_letter

    with Session(tenant) as session:
        found = read_dead_letter(session.worker, session.tenant_id, letter)
    if as_json:
        print_json({"tenant_id": session.tenant_id, "dead_letter": found})
        return
    names = ("id", "source", "line", "reason", "detail", "attempts", "recorded_at", "subject_id", "item")
    labels = ("id", "file", "line", "reason", "what is wrong", "tries", "since", "subject", "item")
    values = [str(found.id), *(getattr(found, name) for name in names[1:])]
    pairs(zip(labels, values, strict=True))
    if found.record is None:
        say("\nNo record is kept.")
    else:
        heading("record" if found.size < KEPT_BYTES else "record (its first 64 KiB)")
        say(found.record)


@command.command("redrive", short_help="Try them again, with a zone or a mapping.")
@tenant_option
@file_option
@reason_option
@map_option
@timezone_option
@subject_option
@json_option
def redrive(
    tenant: str | None,
    source: str | None,
    reason: str | None,
    mapping: dict[str, str],
    timezone: str | None,
    subject: str | None,
    as_json: bool,
) -> None:
    """Try dead letters again; those that go in are gone from the list, the others stay with their newest reason.

    \b
    Example:
      reverie dead-letters redrive --timezone Europe/Berlin
    """
    from reverie.capture.history.redrive import redrive_dead_letters
    from reverie.store.dead_letters import LetterFilter

    with Session(tenant) as session:
        summary = redrive_dead_letters(
            session.worker,
            tenant_id=session.tenant_id,
            where=LetterFilter(source=source, reason=reason),
            mapping=mapping,
            timezone=timezone,
            subject=subject,
            policy=session.new_tenant_policy,
        )
    fields = ("tried", "imported", "repeated", "outcomes", "dead", "requeued", "released")
    if as_json:
        dead = {f"dead_{code}": number for code, number in sorted(summary.dead_by_reason.items())}
        print_json({"tenant_id": session.tenant_id} | {name: getattr(summary, name) for name in fields} | dead)
        return
    say(
        f"{summary.tried:,} tried: {summary.imported:,} turns and {summary.outcomes:,} outcomes are in, "
        f"{summary.repeated:,} were known, {summary.dead:,} failed again."
    )
    if summary.requeued:
        say(f"{summary.requeued:,} sessions wait in the queue again.")
    if summary.released:
        say(f"{summary.released:,} items and subjects that a stage failed on are tried again by the next run.")
    if summary.dead:
        table(("reason", "records"), summary.dead_by_reason.most_common(), right=("records",))
