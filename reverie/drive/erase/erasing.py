"""Erases in one transaction per subject, so that a process killed at any point has erased it or not begun.

If a part of a subject's log is kept, its memory is emptied and it waits in the queue: the next run makes its memory
again from the rest of the log, in event time. So its digest is that of a log without the erased data
(docs/decisions/0093).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection, Rollback
from psycopg.sql import SQL, Identifier

from reverie.capture.append import lock_sessions
from reverie.drive.erase.copies import drop_copies
from reverie.drive.erase.read import Selection, find_subject, select, select_rows
from reverie.drive.erase.targets import Target
from reverie.drive.erase.write import delete_keys, delete_selected, delete_tenant
from reverie.errors import NotFoundError
from reverie.interruption import check_interruption
from reverie.language.text import CountTokens
from reverie.policy import Policy
from reverie.store.connect import role_errors
from reverie.store.database import Store
from reverie.store.locks import begin_erasing, lock_subjects
from reverie.store.privacy.receipts import (
    ErasureDone,
    Receipt,
    ensure_keys,
    find_receipt,
    new_erasure_id,
    target_of,
    write_receipt,
)
from reverie.store.queries import queries
from reverie.store.queue import Waiting, enqueue

#: Subjects of a tenant erased in one transaction.
_SUBJECTS = 20
#: Session id in the queue of a subject that waits for its memory to be made again.
_SESSION = "erasures"


@dataclass(frozen=True, kw_only=True, slots=True)
class Erased:
    """The result of an erasure or its preview."""

    #: Receipt; None for a preview, for an erasure from receipts, or if it had been erased before.
    receipt: Receipt | None
    #: Rows by table.
    counts: Mapping[str, int]
    #: Erased turns, in the log and in the buffer.
    turns: int
    #: Subjects whose memory will be made again.
    left: Sequence[str]
    #: Receipt of an earlier erasure of the same target, if nothing was left to erase.
    before: Receipt | None = None
    #: Subject; None if there are several, or if it had been erased before.
    subject_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Eraser:
    """Erases data of one tenant. Its generations, which are databases with copies, are removed as well."""

    #: Opened in the role of the worker; each transaction switches to the role of the eraser.
    store: Store
    tenant_id: str
    #: Policy by which texts with vectors were cut.
    policy: Policy
    count_tokens: CountTokens
    #: Time of the erasure.
    at: datetime
    #: Name of the person or program that asks for it.
    actor: str | None = None

    def erase(self, target: Target, *, preview: bool = False) -> Erased:
        """Erase a target in one transaction. `preview`: do the same and roll it back, so that the counts are exact.

        If the target was erased before and nothing of it is there, return the receipt of that erasure.

        Raises:
            NotFoundError: there is nothing of this name, and there never was.
            InputError: several subjects have a session of this name, or other memories rest on the memory's turns.
            DatabaseError: the user may not act as reverie_eraser, or a generation of the tenant cannot be removed.
                Nothing is erased.
        """
        erased: Erased | None = None
        with self.transaction() as conn:
            try:
                subject_id = find_subject(conn, self.tenant_id, target)
            except NotFoundError:
                found = find_receipt(conn, self.tenant_id, target.kind, self._target(conn, target))
                if found is None:
                    raise
                return Erased(receipt=None, counts={}, turns=0, left=(), before=found)
            self._lock(conn, [subject_id])
            chosen = select(conn, self.tenant_id, target, subject_id, self.policy, self.count_tokens)
            erased = self._delete(conn, target, chosen)
            if preview:
                raise Rollback
            drop_copies(conn, self.store.url, self.tenant_id)
        assert erased is not None
        return replace(erased, receipt=None if preview else erased.receipt, subject_id=subject_id)

    def erase_again(self, subject_id: str, ids: Sequence[UUID] | None) -> Erased:
        """Erase turns and events of a subject by their ids, or everything about it (None), without a new receipt.

        This is for a restored database, in which erased data is there again.
        """
        with self.transaction() as conn:
            self._lock(conn, [subject_id])
            chosen = {"session": None, "ids": ids, "before": None}
            selection = select_rows(
                conn, self.tenant_id, [subject_id], chosen, self.policy, self.count_tokens, whole=ids is None
            )
            counts = delete_selected(conn, self.tenant_id, selection, new_erasure_id(), self.at)
            left = self._wait(conn, selection)
            drop_copies(conn, self.store.url, self.tenant_id)
        return Erased(receipt=None, counts=counts, turns=len(selection.turns), left=left, subject_id=subject_id)

    def erase_rest_again(self) -> Erased:
        """Erase what a restored database still has of an erased tenant besides its subjects, without a new receipt."""
        with self.transaction() as conn:
            drop_copies(conn, self.store.url, self.tenant_id)
            counts = delete_tenant(conn, self.tenant_id)
        return Erased(receipt=None, counts=counts, turns=0, left=())

    def erase_tenant(self) -> Iterator[Erased]:
        """Erase everything of the tenant: some subjects in each transaction, and the rest in the last one.

        Its keys go first, so that applications send nothing more meanwhile. If it is killed, another call goes on. The
        tenant's receipts stay, with its name.
        """
        with self.transaction() as conn:
            drop_copies(conn, self.store.url, self.tenant_id)
            keys = delete_keys(conn, self.tenant_id)
        after = ""
        while True:
            check_interruption()
            with self.transaction() as conn:
                params = {"tenant": self.tenant_id, "after": after, "limit": _SUBJECTS}
                subjects = [row[0] for row in conn.execute(queries("erase")["subjects_after"], params)]
                if not subjects:
                    break
                self._lock(conn, subjects)
                everything = {"session": None, "ids": None, "before": None}
                selection = select_rows(
                    conn, self.tenant_id, subjects, everything, self.policy, self.count_tokens, whole=True
                )
                erased = self._delete(conn, Target(kind="tenant"), selection)
            yield erased
            after = subjects[-1]
        with self.transaction() as conn:
            counts = delete_tenant(conn, self.tenant_id)
            counts |= {"ops.api_keys": keys} if keys else {}
            receipt = self._receipt(conn, Target(kind="tenant"), new_erasure_id(), counts) if counts else None
        yield Erased(receipt=receipt, counts=counts, turns=0, left=())

    def has_rows(self) -> bool:
        """Return whether anything of the tenant is there, if only rows that were written while it was erased."""
        sql, params = queries("erase"), {"tenant": self.tenant_id}
        with self.store.transaction(self.tenant_id) as conn:
            tables = ["ops.tenants", *(row[0] for row in conn.execute(sql["tenant_tables"]))]
            statements = (SQL(sql["has_rows"]).format(table=Identifier(*table.split("."))) for table in tables)
            return any(conn.execute(statement, params).fetchone() == (True,) for statement in statements)

    @contextmanager
    def transaction(self) -> Iterator[Connection[Any]]:
        """Yield a transaction of the tenant in the role of the eraser, with the keys for marks."""
        with self.store.transaction(self.tenant_id) as conn:
            act_as_eraser(conn)
            begin_erasing(conn, self.tenant_id)
            ensure_keys(conn, self.tenant_id)
            yield conn

    def _lock(self, conn: Connection[Any], subjects: Sequence[str]) -> None:
        """Wait for running flushes, imports and stages of these subjects, and keep new ones waiting until the end."""
        params = {"tenant": self.tenant_id, "subjects": list(subjects)}
        conn.execute(queries("erase")["lock_running"], params)
        lock_sessions(conn, self.tenant_id, conn.execute(queries("erase")["sessions_of"], params).fetchall())
        lock_subjects(conn, self.tenant_id, subjects)

    def _delete(self, conn: Connection[Any], target: Target, selection: Selection) -> Erased:
        erasure_id = new_erasure_id()
        counts = delete_selected(conn, self.tenant_id, selection, erasure_id, self.at)
        left = self._wait(conn, selection)
        receipt = self._receipt(conn, target, erasure_id, counts)
        return Erased(receipt=receipt, counts=counts, turns=len(selection.turns), left=left)

    def _wait(self, conn: Connection[Any], selection: Selection) -> Sequence[str]:
        """Enqueue the subjects with turns or events left, to make their memory again; return them."""
        if selection.whole:
            return ()
        params = {"tenant": self.tenant_id, "subjects": list(selection.subjects)}
        left = [row[0] for row in conn.execute(queries("erase")["still_logged"], params)]
        waiting = [Waiting(subject_id=each, session_id=_SESSION, turns=0, said_at=self.at, quiet=True) for each in left]
        enqueue(conn, self.tenant_id, waiting, policy=self.policy, at=self.at)
        return left

    def _receipt(self, conn: Connection[Any], target: Target, erasure_id: UUID, counts: Mapping[str, int]) -> Receipt:
        done = ErasureDone(
            id=erasure_id,
            kind=target.kind,
            target=self._target(conn, target),
            counts=counts,
            erased_at=self.at,
            actor=self.actor,
        )
        return write_receipt(conn, self.tenant_id, done)

    def _target(self, conn: Connection[Any], target: Target) -> bytes:
        return target_of(conn, target.kind, [*target.names] or [self.tenant_id])


def act_as_eraser(conn: Connection[Any]) -> None:
    """Take on the role of the eraser until the transaction ends. Raises DatabaseError if the user may not."""
    with role_errors(conn.info.user, "eraser"):
        conn.execute(queries("erase")["act_as_eraser"])


def total(erased: Sequence[Erased]) -> dict[str, int]:
    """Return the total rows of several erasures by table."""
    counts: Counter[str] = Counter()
    for each in erased:
        counts.update(each.counts)
    return dict(sorted(counts.items()))
