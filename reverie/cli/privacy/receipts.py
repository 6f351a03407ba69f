"""`reverie receipts`: list and verify the receipts of erasures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.options import json_option, tenant_option
from reverie.cli.output import print_json, say, table
from reverie.cli.session import CommandSession
from reverie.errors import DatabaseError

if TYPE_CHECKING:
    from reverie.store.privacy.receipts import Receipt


@click.command("receipts", short_help="List and verify the receipts of erasures.")
@click.option(
    "--export",
    "export_to",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the receipts to a file for `reverie erase --replay`.",
)
@click.option("--verify", is_flag=True, help="Check the chain of hashes; fails if it is broken.")
@tenant_option
@json_option
def command(export_to: Path | None, verify: bool, tenant: str | None, as_json: bool) -> None:
    """List what was erased: when, who asked for it, and how many rows of which tables; no content and no names. Each
    receipt holds the hash of the one before. Keep the last hash elsewhere to detect a missing end.

    --export also writes hashes of what was erased, so that `reverie erase --replay` can erase it again in a database
    that was restored from an older backup.

    \b
    Examples:
      reverie receipts --tenant demo
      reverie receipts --verify --json
      reverie receipts --tenant demo --export receipts.jsonl
    """
    from reverie.store.privacy.receipts import first_break, read_receipts

    with CommandSession(tenant) as session:
        with session.worker.transaction(session.tenant_id) as conn:
            receipts = read_receipts(conn, session.tenant_id)
        broken = first_break(session.tenant_id, receipts)
        if verify and broken is not None:
            raise DatabaseError(f"The chain of receipts of tenant {session.tenant_id} is broken at receipt {broken}.")
        if export_to is not None:
            from reverie.drive.erase.replaying import write_receipts

            write_receipts(session.worker, session.tenant_id, export_to)
    if as_json:
        last = receipts[-1].hash.hex() if receipts else None
        rows = [_flat(receipt) for receipt in receipts]
        print_json({"tenant_id": session.tenant_id, "receipts": rows, "holds": broken is None, "last_hash": last})
    elif receipts:
        _print(receipts, broken)
    else:
        say(f"Nothing was ever erased in tenant {session.tenant_id}.")


def _flat(receipt: Receipt) -> dict[str, Any]:
    return {
        "number": receipt.number,
        "id": receipt.id,
        "kind": receipt.kind,
        "target": receipt.target.hex(),
        "counts": receipt.counts,
        "erased_at": receipt.erased_at,
        "actor": receipt.actor,
        "hash": receipt.hash.hex(),
    }


def _print(receipts: Sequence[Receipt], broken: int | None) -> None:
    rows = [
        (
            receipt.number,
            receipt.erased_at,
            receipt.kind,
            receipt.counts.get("log.turns", 0),
            sum(receipt.counts.values()),
            receipt.actor or "",
            str(receipt.id),
        )
        for receipt in receipts
    ]
    columns = ("no.", "erased at", "kind", "turns", "rows", "by", "receipt")
    table(columns, rows, right=("no.", "turns", "rows"), ids=("receipt",))
    last = receipts[-1].hash.hex()
    say(f"The chain holds. Its last hash is {last}." if broken is None else f"The chain is broken at receipt {broken}.")
