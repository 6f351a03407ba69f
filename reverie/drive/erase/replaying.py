"""Receipts in files, and their erasures repeated in a restored database or in one to which a tenant moved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple
from uuid import UUID

import orjson
from psycopg import Connection

from reverie.drive.erase.erasing import Erased, Eraser, act_as_eraser
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

    Raises:
        DatabaseError: with `with_secret`, the user may not act as reverie_eraser.
    """
    first = {"format": _FORMAT, "tenant_id": tenant_id, "keys": _keys(conn).hex()}
    receipts, marks = read_receipts(conn, tenant_id), read_marks(conn, tenant_id)
    if with_secret:
        act_as_eraser(conn)
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

    Another call goes on after an interruption. A subject that came back since its erasure stays. An erased tenant goes
    with its subjects, unless one of them stays or the tenant was added again since. A database in which nothing of the
    tenant was erased takes over the keys of an export, so that it can recognise erased data.

    Raises:
        InputError: the receipts are of another tenant, or their marks were made with other keys.
        ConflictError: the database has other receipts than the file.
    """
    if file.tenant_id != eraser.tenant_id:
        raise InputError(f"The receipts are of tenant {file.tenant_id!r}, not of {eraser.tenant_id!r}.")
    erased_at = {receipt.target: receipt.erased_at for receipt, _ in file.receipts if receipt.kind == "subject"}
    tenant_at = max((receipt.erased_at for receipt, _ in file.receipts if receipt.kind == "tenant"), default=None)
    with eraser.transaction() as conn:
        _add_receipts(conn, eraser.tenant_id, file)
        if tenant_at is not None and not _is(conn, "is_older", tenant=eraser.tenant_id, since=tenant_at):
            tenant_at = None
        again: dict[str, list[UUID]] = defaultdict(list)
        for subject_id, id_ in conn.execute(queries("erase")["erased_again"], {"tenant": eraser.tenant_id}):
            again[subject_id].append(id_)
    for subject_id in _whole_subjects(eraser, erased_at, tenant_at):
        check_interruption()
        again.pop(subject_id, None)
        yield eraser.erase_again(subject_id, None)
    for subject_id, ids in again.items():
        check_interruption()
        yield eraser.erase_again(subject_id, ids)
    if tenant_at is not None and not _subjects_after(eraser, ""):
        yield eraser.erase_rest_again()


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


def _whole_subjects(eraser: Eraser, erased_at: Mapping[bytes, datetime], tenant_at: datetime | None) -> Iterator[str]:
    """Yield the subjects that were erased as a whole, or with their tenant, and did not come back since."""
    after = ""
    while (erased_at or tenant_at) and (subjects := _subjects_after(eraser, after)):
        with eraser.transaction() as conn:
            gone = []
            for subject_id in subjects:
                times = tenant_at, erased_at.get(target_of(conn, "subject", [subject_id]))
                since = max(filter(None, times), default=None)
                if since and not _is(conn, "came_back", tenant=eraser.tenant_id, subject=subject_id, since=since):
                    gone.append(subject_id)
        yield from gone
        after = subjects[-1]


def _subjects_after(eraser: Eraser, after: str) -> list[str]:
    params = {"tenant": eraser.tenant_id, "after": after, "limit": _SUBJECTS}
    with eraser.transaction() as conn:
        return [row[0] for row in conn.execute(queries("erase")["subjects_after"], params)]


def _is(conn: Connection[Any], question: Literal["came_back", "is_older"], **params: Any) -> bool:
    row = conn.execute(queries("erase")[question], params).fetchone()
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
