"""`reverie import`: conversations and outcomes from files into the log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import note, pairs, print_json, say, table
from reverie.cli.progress import Bars, bars
from reverie.cli.session import Session
from reverie.cli.signals import ending_cleanly
from reverie.errors import InputError, ReverieError

if TYPE_CHECKING:
    from reverie.capture.importing import ImportSummary


def parse_mapping(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Return `ours=theirs` pairs as a mapping."""
    mapping = {}
    for pair in given:
        ours, equals, theirs = pair.partition("=")
        if not (ours and equals and theirs):
            raise click.BadParameter(f"{pair!r} is not OURS=THEIRS, such as subject_id=user.")
        mapping[ours] = theirs
    return mapping


map_option = click.option(
    "--map",
    "mapping",
    multiple=True,
    callback=parse_mapping,
    metavar="OURS=THEIRS",
    help="A field that has another name.",
)
timezone_option = click.option("--timezone", metavar="ZONE", help="Where times without an offset were written.")


@click.command("import", short_help="Read conversations from files into the log.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@tenant_option
@map_option
@timezone_option
@json_option
def command(
    files: tuple[Path, ...], tenant: str | None, mapping: dict[str, str], timezone: str | None, as_json: bool
) -> None:
    """Read conversations and outcomes from JSONL, CSV or Parquet files, gzipped or not, into the log.

    The format is told by name and content. A turn sent twice counts once, so an import that was broken off is simply
    run again. What cannot be read becomes a dead letter with file, line and reason, and the rest goes on. A record
    needs subject_id, session_id, role, said_at and text.

    \b
    Examples:
      reverie import history.jsonl
      reverie import chats.csv.gz --map subject_id=user --map said_at=created --timezone Europe/Berlin
      reverie import examples/sample_history.jsonl --tenant demo
    """
    results: list[tuple[Path, ImportSummary | ReverieError]] = []
    with Session(tenant) as session, ending_cleanly(), bars() as shown:
        for file in files:
            try:
                results.append((file, _import(session, file, mapping, timezone, shown)))
            except InputError as error:  # of this file alone
                results.append((file, error))
    if as_json:
        print_json({"tenant_id": session.tenant_id, "files": [_flat(file, result) for file, result in results]})
    else:
        for file, result in results:
            if not isinstance(result, ReverieError):
                _print(file, result)
    _end(results)


def _import(session: Session, file: Path, mapping: dict[str, str], timezone: str | None, shown: Bars) -> ImportSummary:
    from reverie.capture.importing import import_file

    name = file.name
    if file.is_file():
        shown.expect(name, file.stat().st_size, unit="bytes")
    return import_file(
        session.worker,
        file,
        tenant_id=session.tenant_id,
        mapping=mapping,
        timezone=timezone,
        policy=session.new_tenant_policy,
        on_progress=lambda position: shown.place(name, position),
    )


def _flat(file: Path, result: ImportSummary | ReverieError) -> dict[str, Any]:
    if isinstance(result, ReverieError):
        return {"file": str(file), "error": str(result)}
    fields = ("read", "imported", "repeated", "outcomes", "dead", "resolved", "mended", "subjects", "sessions")
    numbers = {name: getattr(result, name) for name in fields}
    dead = {f"dead_{reason}": number for reason, number in sorted(result.dead_by_reason.items())}
    ends = {"first": result.first, "last": result.last, "ignored_fields": list(result.ignored_fields)}
    return {"file": str(file), "error": None} | numbers | dead | ends


def _print(file: Path, summary: ImportSummary) -> None:
    say(f"{file}: {summary.read:,} records read")
    pairs(
        [
            ("  turns", f"{summary.imported:,} new of {summary.subjects:,} subjects in {summary.sessions:,} sessions"),
            (
                "  said",
                f"{summary.first:%Y-%m-%d} to {summary.last:%Y-%m-%d}" if summary.first and summary.last else None,
            ),
            ("  outcomes", summary.outcomes or None),
            ("  known already", summary.repeated or None),
            ("  mended", summary.mended or None),
            ("  resolved", f"{summary.resolved:,} dead letters of an earlier import" if summary.resolved else None),
            ("  not read", f"fields {', '.join(summary.ignored_fields)}" if summary.ignored_fields else None),
        ]
    )
    if summary.dead:
        say(f"  {summary.dead:,} became dead letters (reverie dead-letters):")
        table(("reason", "records"), summary.dead_by_reason.most_common(), right=("records",))


def _end(results: list[tuple[Path, ImportSummary | ReverieError]]) -> None:
    """Fail where a file gave nothing at all; dead letters beside good records are no failure."""
    failures = []
    for file, result in results:
        if isinstance(result, ReverieError):
            failures.append(str(result))
        elif result.read and result.read == result.dead:
            ((reason, _),) = result.dead_by_reason.most_common(1)
            failures.append(
                f"No record of {file} could be taken in, most for the reason {reason}{_HINTS.get(reason, '.')}"
            )
    if failures:
        for sentence in failures[:-1]:
            note(f"Error: {sentence}")
        raise InputError(failures[-1])


_HINTS = {
    "other_tenant": ": give their tenant with --tenant.",
    "naive_time": ": say where they were written with --timezone.",
    "missing_field": ": name the fields with --map; see reverie dead-letters.",
}
