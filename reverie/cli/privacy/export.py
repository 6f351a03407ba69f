"""`reverie export`: export a person or a tenant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import note, print_json, say
from reverie.cli.session import CommandSession


@click.command("export", short_help="Export a person or a tenant.")
@click.argument("subject", required=False)
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="A new or empty folder for the files.",
)
@click.option(
    "--format",
    type=click.Choice(("reverie", "mem0", "letta", "jsonl", "parquet")),
    default="reverie",
    show_default=True,
    help="reverie: everything. jsonl, parquet: turns, outcomes and statements as records. mem0, letta: what is known.",
)
@tenant_option
@json_option
def command(subject: str | None, output: Path, format: str, tenant: str | None, as_json: bool) -> None:
    """Export everything that is kept about SUBJECT, or without SUBJECT about the whole tenant, as files in FOLDER.

    log.jsonl has what was said, asked and corrected; `reverie import FOLDER/log.jsonl` loads it into another database,
    where `reverie run` makes the same memory from it. memory.jsonl has the memory with its lineage. A person's export
    has person.md, a page to read. A tenant's has receipts.jsonl, from which `reverie erase --replay` erases the same in
    the other database.

    \b
    Examples:
      reverie export ana --tenant demo --output ana-export
      reverie export --tenant demo --output demo-export --json
      reverie export --tenant demo --output moved --format mem0
    """
    with CommandSession(tenant) as session:
        session.require_tenant()
        files, counts, left_out = _export(session, subject, output, format)
    if as_json:
        print_json(
            {
                "tenant_id": session.tenant_id,
                "subject_id": subject,
                "files": list(map(str, files)),
                "counts": counts,
                "left_out": left_out,
            }
        )
        return
    say(f"{sum(counts.values()):,} rows of {len(counts):,} tables in:")
    for file in files:
        say(f"  {file}")
    if left_out:
        note(f"{left_out:,} rows are left out: the policy does not export their classes (docs/sensitivity.md).")


def _export(
    session: CommandSession, subject: str | None, output: Path, format: str
) -> tuple[Sequence[Path], Mapping[str, int], int]:
    if format != "reverie":
        from reverie.drive.moving import move_out

        moved = move_out(
            session.url, session.tenant_id, output, subject_id=subject, format=format, at=datetime.now(UTC)
        )
        return [moved.file], moved.counts, moved.left_out
    from reverie.drive.exporting import export
    from reverie.drive.readable import write_readable

    made = export(session.url, session.tenant_id, output, subject_id=subject, at=datetime.now(UTC))
    page = [] if subject is None else [write_readable(output, subject)]
    return [*made.files, *page], made.counts, made.left_out
