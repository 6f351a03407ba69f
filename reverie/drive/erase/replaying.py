"""Receipts in files, and their erasures repeated in a restored database or in one to which a tenant moved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from psycopg import Connection

from reverie.drive.erase.erasing import Erased, Eraser
from reverie.errors import ConflictError, InputError
from reverie.interruption import check_interruption
from reverie.store.database import Store
from reverie.store.privacy.receipts import (
    Receipt,
    add_receipt,
    first_break,
    read_marks,
    read_receipts,
    read_secret,
    take_secret,
    target_of,
)
from reverie.store.queries import queries

_FORMAT = "reverie receipts"
#: Subjects checked in one transaction.
_SUBJECTS = 500


class ReceiptFile(NamedTuple):
    """Receipts of a tenant, in order, each with the marks of the erased data."""

    tenant_id: str
    #: Identifies the keys by which the marks were made, without revealing them.
    keys: bytes
    receipts: list[tuple[Receipt, list[bytes]]]
    #: The keys themselves, in the export of a tenant; None: only a copy of that database can use the marks.
    secret: bytes | None = None


def write_receipts(store: Store, tenant_id: str, path: Path) -> int:
    """Write a tenant's receipts to a file: hashes and counts, no content; return how many. Raises InputError."""
    with store.transaction(tenant_id) as conn:
        lines = receipt_lines(conn, tenant_id)
    try:
        path.write_bytes(b"".join(lines))
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
    return len(lines) - 1


def receipt_lines(conn: Connection[Any], tenant_id: str, *, with_secret: bool = False) -> list[bytes]:
    """Return a tenant's receipts as lines of a file, after a line that names the tenant.

    `with_secret`: the file has the keys of the marks, so that another database can use it; the transaction goes on in
    the role of the eraser, which alone may read them. Anyone with the keys can check a guess of what was erased.
    """
    first = {"format": _FORMAT, "tenant_id": tenant_id, "keys": _keys(conn).hex()}
    receipts, marks = read_receipts(conn, tenant_id), read_marks(conn, tenant_id)
    if with_secret:
        conn.execute(queries("erase")["act_as_eraser"])
        first["secret"] = read_secret(conn).hex()
    lines: list[dict[str, Any]] = [first]
    for receipt in receipts:
        row: dict[str, Any] = {name: getattr(receipt, name) for name in Receipt.__slots__}
        lines.append(row | {"marks": marks.get(receipt.id, [])})
    return [orjson.dumps(line, default=_plain) + b"\n" for line in lines]


def read_receipt_file(path: Path) -> ReceiptFile:
    """Read a file by `write_receipts`. Raises InputError for another file, or one whose chain is broken."""
    try:
        first, *lines = [orjson.loads(line) for line in path.read_bytes().splitlines()]
        if first["format"] != _FORMAT:
            raise ValueError
        receipts = [(_receipt(line), [bytes.fromhex(mark) for mark in line["marks"]]) for line in lines]
        secret = bytes.fromhex(first["secret"]) if first.get("secret") else None
        found = ReceiptFile(first["tenant_id"], bytes.fromhex(first["keys"]), receipts, secret)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is not a file of receipts: reverie receipts --export writes one.") from error
    if broken := first_break(found.tenant_id, [receipt for receipt, _ in receipts]):
        raise InputError(f"The chain of receipts in {path.name} is broken at receipt {broken}.")
    return found


def replay_receipts(eraser: Eraser, file: ReceiptFile) -> Iterator[Erased]:
    """Write the receipts that the database lacks and repeat their erasures; yield the result for each subject.

    Another call goes on after an interruption. A subject with turns or events since its erasure stays. A database in
    which nothing of the tenant was erased takes over the keys of an export, so that it can recognise erased data.

    Raises:
        InputError: the receipts are of another tenant, or their marks were made with other keys.
        ConflictError: the database has other receipts than the file.
    """
    if file.tenant_id != eraser.tenant_id:
        raise InputError(f"The receipts are of tenant {file.tenant_id!r}, not of {eraser.tenant_id!r}.")
    with eraser.transaction() as conn:
        _add_receipts(conn, eraser.tenant_id, file)
        again: dict[str, list[UUID]] = defaultdict(list)
        for subject_id, id_ in conn.execute(queries("erase")["erased_again"], {"tenant": eraser.tenant_id}):
            again[subject_id].append(id_)
    whole = {receipt.target for receipt, _ in file.receipts if receipt.kind == "subject"}
    for subject_id in _whole_subjects(eraser, whole):
        check_interruption()
        again.pop(subject_id, None)
        yield eraser.erase_again(subject_id, None)
    for subject_id, ids in again.items():
        check_interruption()
        yield eraser.erase_again(subject_id, ids)


def _add_receipts(conn: Connection[Any], tenant_id: str, file: ReceiptFile) -> None:
    if file.secret is not None and _keys(conn) != file.keys:
        take_secret(conn, file.secret)
    if _keys(conn) != file.keys:
        raise InputError(
            f"The keys of tenant {tenant_id} in this database differ from the keys of the receipts: "
            + (
                "it is not a copy of their database."
                if file.secret is None
                else "it has erased data with its own keys."
            )
        )
    there = [receipt.hash for receipt in read_receipts(conn, tenant_id)]
    known = [receipt.hash for receipt, _ in file.receipts]
    if there != known[: len(there)]:
        raise ConflictError("This database has receipts that the file lacks, so the file cannot be replayed here.")
    for receipt, marks in file.receipts[len(there) :]:
        add_receipt(conn, tenant_id, receipt, marks)


def _whole_subjects(eraser: Eraser, targets: set[bytes]) -> Iterator[str]:
    """Yield the subjects that were erased as a whole, and about whom nothing was said since."""
    sql, after = queries("erase"), ""
    while targets:
        params = {"tenant": eraser.tenant_id, "after": after, "limit": _SUBJECTS}
        with eraser.transaction() as conn:
            subjects = [row[0] for row in conn.execute(sql["subjects_after"], params)]
            found = [each for each in subjects if target_of(conn, "subject", [each]) in targets]
            gone = [each for each in found if not _came_back(conn, eraser.tenant_id, each)]
        yield from gone
        if not subjects:
            return
        after = subjects[-1]


def _came_back(conn: Connection[Any], tenant_id: str, subject_id: str) -> bool:
    params = {"tenant": tenant_id, "subject": subject_id}
    row = conn.execute(queries("erase")["came_back"], params).fetchone()
    return bool(row and row[0])


def _keys(conn: Connection[Any]) -> bytes:
    return target_of(conn, "tenant", ["keys"])


def _receipt(line: dict[str, Any]) -> Receipt:
    return Receipt(
        number=line["number"],
        id=UUID(line["id"]),
        kind=line["kind"],
        target=bytes.fromhex(line["target"]),
        counts=line["counts"],
        erased_at=datetime.fromisoformat(line["erased_at"]),
        actor=line["actor"],
        previous=bytes.fromhex(line["previous"]),
        hash=bytes.fromhex(line["hash"]),
    )


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else str(value)
