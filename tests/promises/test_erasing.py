"""One transaction erases a target: it is previewed, repeated and interrupted without harm."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reverie.drive.erase.erasing import Erased
from reverie.drive.erase.replaying import receipt_lines
from reverie.drive.erase.targets import session_target, subject_target
from reverie.errors import DatabaseError, NotFoundError
from reverie.store.database import Store
from reverie.store.digest import digest
from tests.logins import login
from tests.promises.compact import TENANT
from tests.promises.test_erased import Opened, everywhere, there, without

__all__ = ["there", "without"]


def test_a_preview_counts_the_same_and_changes_nothing(there: Opened) -> None:
    before = digest(there.store, TENANT)
    planned = there.eraser.erase(subject_target("ana"), preview=True)
    assert planned.receipt is None and digest(there.store, TENANT) == before
    assert there.eraser.erase(subject_target("ana")).counts == planned.counts


def test_what_fails_midway_erases_nothing(there: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest(there.store, TENANT)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("killed")

    monkeypatch.setattr("reverie.drive.erase.erasing.write_receipt", fail)
    with pytest.raises(RuntimeError):
        there.eraser.erase(subject_target("ana"))
    assert digest(there.store, TENANT) == before
    monkeypatch.undo()
    assert there.eraser.erase(subject_target("ana")).turns > 0


def test_erased_twice_is_erased_once(there: Opened) -> None:
    done = there.eraser.erase(subject_target("ana"))
    again = there.eraser.erase(subject_target("ana"))
    assert again.receipt is None and again.before is not None and done.receipt is not None
    assert again.before.id == done.receipt.id
    with pytest.raises(NotFoundError, match="Nothing is kept"):
        there.eraser.erase(subject_target("cleo"))


def test_a_tenant_is_gone_and_its_receipts_stay(there: Opened) -> None:
    done: list[Erased] = list(there.eraser.erase_tenant())
    assert sum(each.turns for each in done) > 20
    assert set(everywhere(there.url, TENANT)) == {"ops.erasures", "ops.erased", "ops.erasure_keys"}
    assert list(there.eraser.erase_tenant())[-1].receipt is None, "nothing is left"


def test_a_session_that_is_not_there_erases_nothing(there: Opened) -> None:
    before = digest(there.store, TENANT)
    with pytest.raises(NotFoundError, match="has no session"):
        there.eraser.erase(session_target("ana", "none"))
    there.eraser.erase(session_target("ana", "ana-1"))
    assert there.eraser.erase(session_target("ana", "ana-1")).before is not None
    assert digest(there.store, TENANT) != before


def test_a_user_who_may_not_erase_is_told_which_role_is_missing(there: Opened) -> None:
    with login(there.url, "worker", "reader") as url, Store.open(url, size=1) as store:
        with pytest.raises(DatabaseError, match="may not act as reverie_eraser: grant that role"):
            replace(there.eraser, store=store).erase(subject_target("ana"))
        with store.transaction(TENANT) as conn, pytest.raises(DatabaseError, match="reverie_eraser"):
            receipt_lines(conn, TENANT, with_secret=True)
