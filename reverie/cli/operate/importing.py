"""`reverie import`: import conversations and outcomes from files, or from another Postgres, into the log."""

from __future__ import annotations

import functools
import os
import re
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from reverie.cli.options import json_option, parse_time_option, tenant_option
from reverie.cli.output import note, pairs, print_json, say, table
from reverie.cli.progress import Bars, bars
from reverie.cli.session import CommandSession
from reverie.cli.signals import ending_cleanly
from reverie.errors import InputError, ReverieError

if TYPE_CHECKING:
    from reverie.capture.history.importing import ImportSummary
    from reverie.store.source.reader import SourceQuery


def parse_mapping(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Parse `ours=theirs` and `role:theirs=ours` pairs as a mapping."""
    mapping = {}
    for pair in values:
        ours, equals, theirs = pair.partition("=")
        if not (ours and equals and theirs):
            raise click.BadParameter(f"{pair!r} is not OURS=THEIRS such as subject_id=user, or role:VALUE=ROLE.")
        mapping[ours] = theirs
    return mapping


map_option = click.option(
    "--map",
    "mapping",
    multiple=True,
    callback=parse_mapping,
    metavar="OURS=THEIRS",
    help="Map a field name, or a value: role:customer=user. Repeatable.",
)
subject_option = click.option(
    "--subject", "-s", metavar="NAME", help="The subject of all records, whatever the records say."
)
time_format_option = click.option(
    "--time-format", metavar="FORMAT", help="The format of times, such as '%d-%m-%Y %H:%M'. [default: ISO 8601]"
)
timezone_option = click.option("--timezone", metavar="ZONE", help="The time zone of times without an offset.")


#: The choices of `--format`, repeated here so that `--help` does not import the file readers; a test compares them.
FORMATS = ("jsonl", "csv", "parquet", "array", "messages", "chatgpt", "slack", "mem0", "openmemory", "zep", "graphiti",
           "letta", "intercom", "zendesk", "claude", "langsmith", "langfuse")  # fmt: skip


#: Options of a source, by the field of `SourceQuery`: name, metavar, help.
_SOURCE = (
    (
        "url",
        "--from",
        "URL|VARIABLE",
        "Import from another Postgres: its URL, or the name of an environment variable that holds the URL.",
    ),
    ("query", "--query", "SQL", "With --from: the rows to import."),
    ("table", "--table", "NAME", "With --from: import all of this table instead of a query."),
    (
        "cursor",
        "--cursor",
        "COLUMN",
        "With --from: a column that only grows, such as updated_at; import only new rows.",
    ),
    ("key", "--key", "COLUMN", "With --from: the column that identifies a row. [default: id, if there is one]"),
    ("name", "--name", "NAME", "With --from: the name under which the position of the import is kept."),
)


def source_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for another Postgres; the command gets them as one value, `source`: a `SourceQuery` or None."""

    @functools.wraps(function)
    def with_source(*args: Any, **options: Any) -> Any:
        given = {name: options.pop(name) for name, *_ in _SOURCE}
        return function(*args, source=_source(given, from_start=options.pop("from_start")), **options)

    decorated: Callable[..., Any] = click.option(
        "--from-start", is_flag=True, help="With --cursor: read all rows again, whatever was imported before."
    )(with_source)
    for name, option, metavar, help_text in reversed(_SOURCE):
        decorated = click.option(option, name, metavar=metavar, help=help_text)(decorated)
    return decorated


def _source(given: dict[str, str | None], *, from_start: bool) -> SourceQuery | None:
    from reverie.store.source.reader import SourceQuery

    url = given.pop("url")
    if url is None:
        if needless := [name for name, value in given.items() if value is not None] or ["from-start"] * from_start:
            raise click.UsageError(f"--{needless[0]} needs --from, the URL of the database to import from.")
        return None
    return SourceQuery(url=_source_url(url), from_start=from_start, **cast("dict[str, Any]", given))


def _source_url(given: str) -> str:
    """Return the URL, or the variable's. An error never quotes other values, since they may hold a password."""
    from reverie.settings import postgres_url

    if re.fullmatch(r"[A-Za-z_]\w*", given):
        if not os.environ.get(given):
            raise click.BadParameter(f"There is no environment variable {given}.", param_hint="--from")
        given = os.environ[given]
    try:
        return postgres_url(given)
    except ValueError as error:
        raise click.BadParameter(f"{error}, or the name of an environment variable.", param_hint="--from") from None


@click.command("import", short_help="Import conversations from files or another Postgres into the log.")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE...]")
@source_options
@tenant_option
@map_option
@timezone_option
@time_format_option
@subject_option
@click.option(
    "--format",
    type=click.Choice(FORMATS),
    metavar="NAME",
    help=f"The format of the files: {', '.join(FORMATS)}. "
    "[default: detected; those of other memory systems, trace stores and help desks must be named]",
)
@click.option(
    "--start",
    callback=parse_time_option,
    metavar="TIME",
    help="The time of the first record, for message lists without times. Each further record is a minute later.",
)
@json_option
def command(
    files: tuple[Path, ...],
    source: SourceQuery | None,
    tenant: str | None,
    mapping: dict[str, str],
    timezone: str | None,
    time_format: str | None,
    subject: str | None,
    format: str | None,
    start: datetime | None,
    as_json: bool,
) -> None:
    """Import conversations and outcomes into the log from JSONL, JSON, CSV or Parquet files, gzipped or not, from a
    ChatGPT, Slack or reverie export (log.jsonl), from another memory system, trace store or help desk (--format), or
    with --from from a table or query of another Postgres, which is only read.

    A record that is imported twice is stored once, so an interrupted import can be run again. One that cannot be
    imported becomes a dead letter with file, line and reason. A turn needs subject_id, session_id, role, said_at and
    text; common names are recognized, and --map names others. A file fails if over a tenth of it does for one reason.

    \b
    Examples:
      reverie import history.jsonl
      reverie import chats.csv.gz --map subject_id=owner --map role:klant=user --timezone Europe/Berlin
      reverie import calls.csv --time-format '%d/%m/%Y %H:%M' --timezone Europe/Madrid
      reverie import chatgpt-export.zip --subject ana
      reverie import memories.json --format mem0
      reverie import --from CRM_URL --table public.messages --cursor updated_at --map subject_id=customer
    """
    if bool(files) == bool(source):
        raise click.UsageError("Name the files to import, or a database with --from.")
    if source and (format or start):
        raise click.UsageError("--format and --start are for files.")
    results: list[tuple[Path | str, ImportSummary | ReverieError]] = []
    how = {"mapping": mapping, "timezone": timezone, "time_format": time_format, "subject": subject}
    with CommandSession(tenant) as session, ending_cleanly(), bars() as shown:
        if source:
            results.append((source.source, _import_source(session, source, shown, how)))
        for file in files:
            try:
                results.append((file, _import(session, file, shown, how | {"format": format, "start": start})))
            except InputError as error:  # the other files are still imported
                results.append((file, error))
    if as_json:
        print_json({"tenant_id": session.tenant_id, "files": [_flat(file, result) for file, result in results]})
    else:
        for name, result in results:
            if not isinstance(result, ReverieError):
                _print(name, result)
    _end(results, session.tenant_id)


def _import(session: CommandSession, file: Path, shown: Bars, options: dict[str, Any]) -> ImportSummary:
    from reverie.capture.history.exported import import_export, is_export
    from reverie.capture.history.importing import FileOptions, import_file

    if options["format"] is None and is_export(file):
        if options["subject"] is not None or options["mapping"]:
            raise InputError(
                f"{file} is an export of Reverie, whose rows keep their subjects and fields: "
                "--subject and --map do not apply to it."
            )
        summary = import_export(session.worker, file, tenant_id=session.tenant_id)
        _note_clock(session)
        return summary
    name = file.name
    if file.is_file():
        shown.expect(name, file.stat().st_size, unit="bytes")
    return import_file(
        session.worker,
        file,
        FileOptions(**options),
        tenant_id=session.tenant_id,
        policy=session.new_tenant_policy,
        on_progress=lambda position: shown.place(name, position),
    )


def _note_clock(session: CommandSession) -> None:
    """Note a stopped clock: a new tenant has that of the export, and its memory advances no further."""
    from reverie.store.clock import read_clock

    if stopped := read_clock(session.worker, session.tenant_id):
        tenant = session.tenant_id
        note(
            f"The clock of tenant {tenant} is stopped at {stopped:%Y-%m-%d %H:%M} UTC: reverie clock --tenant {tenant}"
        )


def _import_source(session: CommandSession, source: SourceQuery, shown: Bars, how: dict[str, Any]) -> ImportSummary:
    from reverie.capture.history.database import import_table
    from reverie.capture.history.importing import FieldOptions

    shown.expect(source.source, None, unit="rows")
    return import_table(
        session.worker,
        source,
        FieldOptions(**how),
        tenant_id=session.tenant_id,
        policy=session.new_tenant_policy,
        on_progress=lambda read: shown.place(source.source, read),
    )


def _flat(file: Path | str, result: ImportSummary | ReverieError) -> dict[str, Any]:
    if isinstance(result, ReverieError):
        return {"file": str(file), "error": str(result)}
    fields = (
        "read",
        "imported",
        "repeated",
        "outcomes",
        "statements",
        "dead",
        "resolved",
        "mended",
        "redacted",
        "subjects",
        "sessions",
    )
    numbers = {name: getattr(result, name) for name in fields}
    dead = {f"dead_{reason}": number for reason, number in sorted(result.dead_by_reason.items())}
    ends = {"first": result.first, "last": result.last, "ignored_fields": list(result.ignored_fields)}
    skipped = {f"skipped_{reason}": number for reason, number in sorted(result.skipped.items())}
    skipped |= {f"added_{table}": number for table, number in sorted(result.others.items())}
    how = {"format": result.format, "assumed": result.assumed, "cure": result.cure}
    return {"file": str(file), "error": None} | numbers | dead | skipped | ends | how


def assumption_sentence(assumed: dict[str, str]) -> str:
    """Return what an import assumed, and how to change it."""
    parts = [
        f"{left.partition(':')[2]} is {right}" if ":" in left else f"{left} is {right}"
        for left, right in assumed.items()
    ]
    return f"assumed that {', '.join(parts)}; change this with --map"


def counts(skipped: Counter[str]) -> str:
    """Return counts by reason, the most frequent first."""
    return ", ".join(f"{number:,} {reason}" for reason, number in skipped.most_common())


def _print(file: Path | str, summary: ImportSummary) -> None:
    say(f"{file}: {summary.read:,} records read as {summary.format}")
    pairs(
        [
            ("  turns", f"{summary.imported:,} new of {summary.subjects:,} subjects in {summary.sessions:,} sessions"),
            (
                "  period",
                f"{summary.first:%Y-%m-%d} to {summary.last:%Y-%m-%d}" if summary.first and summary.last else None,
            ),
            ("  outcomes", summary.outcomes or None),
            ("  statements", summary.statements or None),
            ("  already in the log", summary.repeated or None),
            ("  repaired", summary.mended or None),
            ("  redacted", summary.redacted or None),
            ("  resolved", f"{summary.resolved:,} dead letters of an earlier import" if summary.resolved else None),
            ("  other rows", counts(summary.others) if summary.others else None),
            ("  skipped", counts(summary.skipped) if summary.skipped else None),
            ("  ignored", f"fields {', '.join(summary.ignored_fields)}" if summary.ignored_fields else None),
        ]
    )
    if summary.dead:
        say(f"  {summary.dead:,} became dead letters (reverie dead-letters):")
        table(("reason", "records"), summary.dead_by_reason.most_common(), right=("records",))


def _end(results: list[tuple[Path | str, ImportSummary | ReverieError]], tenant_id: str) -> None:
    """Fail if a file could not be read, or if too many of its records failed for one reason."""
    failures = []
    if any(result.imported or result.statements for _, result in results if not isinstance(result, ReverieError)):
        note(f"Build memory of it: reverie run --tenant {tenant_id}")
    for file, result in results:
        if isinstance(result, ReverieError):
            failures.append(str(result))
            continue
        if result.assumed:
            note(f"{file}: {assumption_sentence(result.assumed)}.")
        if result.cure:
            failures.append(f"{file}: {result.cure}")
    if failures:
        for sentence in failures[:-1]:
            note(f"Error: {sentence}")
        raise InputError(failures[-1])
