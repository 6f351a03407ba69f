"""A subject's memory is emptied, and made again as it was; that of others stays."""

from __future__ import annotations

from reverie.drive.emptying import empty_subjects
from reverie.store.digest import digest
from tests.promises.compact import TENANT
from tests.promises.test_corrected_at_once import rows
from tests.promises.test_erased import Opened, remember, there, without

__all__ = ["there", "without"]


def test_an_emptied_subject_is_made_again(there: Opened) -> None:
    before = digest(there.store, TENANT)
    of_ben = rows(there.store, "select count(*) from memory.memories where subject_id = 'ben'")
    with there.store.transaction(TENANT) as conn:
        counts = empty_subjects(conn, TENANT, ["ana"])
    assert counts["memory.memories"] > 0 and counts["memory.lineage"] > 0 and counts["memory.terms"] > 0
    assert rows(there.store, "select count(*) from memory.memories where subject_id = 'ana'") == [(0,)]
    assert rows(there.store, "select count(*) from memory.memories where subject_id = 'ben'") == of_ben
    assert remember(there.store) == before
