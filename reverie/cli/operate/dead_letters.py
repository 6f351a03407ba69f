"""`reverie dead-letters`: list, retry and drop records and sessions that failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from reverie.cli.operate.importing import map_option, subject_option, time_format_option, timezone_option
from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import heading, pairs, print_json, say, table
from reverie.cli.session import CommandSession
from reverie.errors import InputError

if TYPE_CHECKING:
    from reverie.store.dead_letters import LetterFilter, LetterGroup

#: Maximum number of records shown to people, without --limit. JSON has all.
_RECORDS = 50
#: A line that was changed is another record, so its import does not end the letter of the old one.
_ADVICE = (
    "Retry them: reverie dead-letters redrive. Or fix the file, drop its letters with\n"
    "reverie dead-letters drop --file NAME, and import it again."
)

file_option = click.option("--file", "source", metavar="NAME", help="Only from this file.")
reason_option = click.option("--reason", metavar="CODE", help="Only for this reason.")


@click.group(
    "dead-letters", invoke_without_command=True, short_help="List, retry and drop failed records and sessions."
)
@tenant_option
@click.pass_context
def command(ctx: click.Context, tenant: str | None) -> None:
    """List the records that could not be imported and the sessions that could not be consolidated; retry or drop them.

    \b
    Examples:
      reverie dead-letters --tenant demo
      reverie dead-letters list --file chats.csv --reason naive_time --each
      reverie dead-letters show 00000000-0000-8c41-93aa-5d0e6b7f2a18
      reverie dead-letters redrive --reason naive_time --timezone Europe/Berlin
      reverie dead-letters drop --file chats.csv
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_letters, tenant=tenant)
    ctx.default_map = {name: {"tenant": tenant} for name in command.commands}


@command.command("list", short_help="List them by reason, without their content.")
@tenant_option
@file_option
@reason_option
@click.option("--each", "one_by_one", is_flag=True, help="One row per record instead of per file and reason.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help=f"Maximum number of records, with --each or --json. [default: {_RECORDS} with --each, all with --json]",
)
@json_option
def list_letters(
    tenant: str | None = None,
    source: str | None = None,
    reason: str | None = None,
    one_by_one: bool = False,
    limit: int | None = None,
    as_json: bool = False,
) -> None:
    """List dead letters by file and reason: their number, the first lines, and what is wrong. With --each, list each
    record by file and line. Their content is never listed. JSON has both lists.
    """
    from reverie.store.dead_letters import LetterFilter, count_dead_letters, group_dead_letters, list_dead_letters

    with CommandSession(tenant) as session:
        session.require_tenant()
        where = LetterFilter(source=source, reason=reason)
        groups = group_dead_letters(session.worker, session.tenant_id, where=where)
        letters = list_dead_letters(
            session.worker, session.tenant_id, where=where, limit=limit or (None if as_json else _RECORDS)
        )
        counts = count_dead_letters(session.worker, session.tenant_id, source=source)
    if as_json:
        lists = {"by_reason": counts, "groups": groups, "dead_letters": letters}
        print_json({"tenant_id": session.tenant_id} | lists)
    elif not letters:
        say(_none_found(session.tenant_id, where, counts))
    elif not one_by_one:
        by_group = [(group.letters, group.reason, group.source, _lines(group), group.detail) for group in groups]
        table(("records", "reason", "file", "lines", "first problem"), by_group, right=("records",))
        say(f"\n{_ADVICE}")
        say("Each record with its id: reverie dead-letters list --each")
    else:
        columns = ("file", "line", "reason", "problem", "attempts", "id")
        rows = [
            (letter.source, letter.line or letter.item, letter.reason, letter.detail, letter.attempts, str(letter.id))
            for letter in letters
        ]
        table(columns, rows, right=("line", "attempts"), ids=("file",))
        total = sum(number for code, number in counts.items() if reason in (None, code))
        say(f"\n{len(letters):,} of {total:,}. {_ADVICE}")
        say("Show a record: reverie dead-letters show ID")


def _none_found(tenant_id: str, where: LetterFilter, counts: Mapping[str, int]) -> str:
    """Say that no letter matches; if others have the same file, name their reasons."""
    source = f" from {where.source}" if where.source is not None else ""
    reason = f" for the reason {where.reason}" if where.reason is not None else ""
    others = f"; there are some for {', '.join(sorted(counts))}" if counts else ""
    return f"Tenant {tenant_id} has no dead letters{source}{reason}{others}."


def _lines(group: LetterGroup) -> str:
    """Return the first lines, followed by an ellipsis if there are more."""
    places = [*map(str, group.lines), *group.rows]
    return ", ".join(places) + (", ..." if group.letters > len(places) else "")


@command.command("show", short_help="Show a dead letter with its content.")
@click.argument("letter", metavar="ID")
@tenant_option
@json_option
def show_letter(letter: str, tenant: str | None, as_json: bool) -> None:
    """Show the dead letter whose id is or begins with ID, with the original record. The record may contain what
    somebody said.

    \b
    Example:
      reverie dead-letters show 00000000-0000-8c41-93aa-5d0e6b7f2a18 --tenant demo
    """
    from reverie.store.dead_letters import KEPT_BYTES, read_dead_letter

    with CommandSession(tenant) as session:
        session.require_tenant()
        dead_letter = read_dead_letter(session.worker, session.tenant_id, letter)
    if as_json:
        print_json({"tenant_id": session.tenant_id, "dead_letter": dead_letter})
        return
    names = ("id", "source", "line", "reason", "detail", "attempts", "recorded_at", "subject_id", "item")
    labels = ("id", "file", "line", "reason", "problem", "attempts", "since", "subject", "item")
    values = [str(dead_letter.id), *(getattr(dead_letter, name) for name in names[1:])]
    pairs(zip(labels, values, strict=True))
    if dead_letter.record is None:
        say("\nThe record was not kept.")
    else:
        heading("record" if dead_letter.size < KEPT_BYTES else "record (its first 64 KiB)")
        say(dead_letter.record)


@command.command("redrive", short_help="Retry them, with a time zone or a mapping.")
@tenant_option
@file_option
@reason_option
@map_option
@timezone_option
@time_format_option
@subject_option
@json_option
def redrive(
    tenant: str | None,
    source: str | None,
    reason: str | None,
    mapping: dict[str, str],
    timezone: str | None,
    time_format: str | None,
    subject: str | None,
    as_json: bool,
) -> None:
    """Retry dead letters. Those that succeed leave the list; the others stay with the latest reason.

    \b
    Example:
      reverie dead-letters redrive --timezone Europe/Berlin
    """
    from reverie.capture.history.importing import FieldOptions
    from reverie.capture.history.redrive import redrive_dead_letters
    from reverie.store.dead_letters import LetterFilter

    with CommandSession(tenant) as session:
        session.require_tenant()
        summary = redrive_dead_letters(
            session.worker,
            tenant_id=session.tenant_id,
            where=LetterFilter(source=source, reason=reason),
            fields=FieldOptions(mapping=mapping, timezone=timezone, time_format=time_format, subject=subject),
            policy=session.new_tenant_policy,
        )
    fields = ("tried", "imported", "repeated", "outcomes", "statements", "dead", "refused", "requeued", "released")
    if as_json:
        dead = {f"dead_{code}": number for code, number in sorted(summary.dead_by_reason.items())}
        print_json({"tenant_id": session.tenant_id} | {name: getattr(summary, name) for name in fields} | dead)
        return
    say(
        f"{summary.tried:,} retried: {summary.imported:,} turns and {summary.outcomes:,} outcomes imported, "
        f"{summary.repeated:,} already in the log, {summary.dead:,} failed again."
    )
    if summary.refused:
        say(f"{summary.refused:,} were deleted: they were erased, or capture is off for their subjects.")
    if summary.requeued:
        say(f"{summary.requeued:,} sessions are in the queue again.")
    if summary.released:
        say(f"The next run retries {summary.released:,} items and subjects that a stage failed on.")
    if summary.dead:
        table(("reason", "records"), summary.dead_by_reason.most_common(), right=("records",))


@command.command("drop", short_help="Delete those of records, for good.")
@click.argument("letter", metavar="[ID]", required=False)
@tenant_option
@file_option
@reason_option
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option
def drop_letters(
    letter: str | None, tenant: str | None, source: str | None, reason: str | None, yes: bool, as_json: bool
) -> None:
    """Delete dead letters of records, with the records in them: the one whose id is or begins with ID, or those of a
    file or reason. The log and the files stay as they are. Letters of stages and sessions end with a redrive only.

    \b
    Examples:
      reverie dead-letters drop 00000000-0000-8c41-93aa-5d0e6b7f2a18 --tenant demo
      reverie dead-letters drop --file chats.csv --reason conflict --yes
    """
    from reverie.store.dead_letters import (
        LetterFilter,
        delete_dead_letters,
        group_dead_letters,
        letters_of_records,
        read_dead_letter,
    )

    if (letter is None) == (source is None and reason is None):
        raise click.UsageError("Name the id of a dead letter, or --file or --reason.")
    with CommandSession(tenant) as session:
        session.require_tenant()
        store, tenant_id, where = session.worker, session.tenant_id, LetterFilter(source=source, reason=reason)
        chosen = read_dead_letter(store, tenant_id, letter).id if letter else None
        found = letters_of_records(store, tenant_id, where=where, letter=chosen)
        if not found and (chosen or group_dead_letters(store, tenant_id, where=where)):
            raise InputError("Letters of stages and sessions are not dropped: reverie dead-letters redrive ends them.")
        counts = Counter(code for _, _, code in found)
        if found and not yes:
            what = ", ".join(f"{code} {number:,}" for code, number in counts.most_common())
            asked = f"Delete {len(found):,} dead letters of tenant {tenant_id} with their records ({what})?"
            click.confirm(asked, abort=True, err=True)
        with store.transaction(tenant_id) as conn:
            dropped = delete_dead_letters(conn, tenant_id, (id_ for id_, _, _ in found))
    if as_json:
        print_json({"tenant_id": tenant_id, "dropped": dropped, "by_reason": counts})
    elif found:
        say(f"{dropped:,} dead letters deleted.")
    else:
        say(_none_found(tenant_id, where, {}))
