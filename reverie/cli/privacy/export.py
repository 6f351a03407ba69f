"""`reverie export`: export a person or a tenant."""

from __future__ import annotations

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
@tenant_option
@json_option
def command(subject: str | None, output: Path, tenant: str | None, as_json: bool) -> None:
    """Export everything that is kept about SUBJECT, or without SUBJECT about the whole tenant, as files in FOLDER.

    log.jsonl has what was said, asked and corrected; `reverie import FOLDER/log.jsonl` takes it into another database,
    where `reverie run` makes the same memory of it. memory.jsonl has the memory with its lineage. About a person,
    person.md is a page to read.

    \b
    Examples:
      reverie export ana --tenant demo --output ana-export
      reverie export --tenant demo --output demo-export --json
    """
    from reverie.drive.exporting import export
    from reverie.drive.readable import write_readable

    with CommandSession(tenant) as session:
        session.require_tenant()
        made = export(session.url, session.tenant_id, output, subject_id=subject, at=datetime.now(UTC))
        files = [*made.files, write_readable(output, subject)] if subject is not None else list(made.files)
    if as_json:
        print_json(
            {
                "tenant_id": session.tenant_id,
                "subject_id": subject,
                "files": list(map(str, files)),
                "counts": made.counts,
                "left_out": made.left_out,
            }
        )
        return
    say(f"{sum(made.counts.values()):,} rows of {len(made.counts):,} tables in:")
    for file in files:
        say(f"  {file}")
    if made.left_out:
        note(f"{made.left_out:,} rows are left out: the policy does not export their classes (docs/sensitivity.md).")
