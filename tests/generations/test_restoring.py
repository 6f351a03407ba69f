"""What a drill says: which tables differ, and that late history may be why."""

from __future__ import annotations

import pytest

from reverie.generations.restoring import RestoreDrill, RestoreError
from reverie.store.digest import Digest, TableDigest


def digest(**rows: int) -> Digest:
    return Digest(sha256=str(rows), tables={name: TableDigest(rows=n, sha256=str(n)) for name, n in rows.items()})


def test_equal_tables_pass_and_others_are_named() -> None:
    live = digest(links=1, memories=2)
    RestoreDrill(live=live, restored=digest(links=1, memories=2), late_subjects=3).require_same()
    drill = RestoreDrill(live=live, restored=digest(links=5, memories=2), late_subjects=0)
    with pytest.raises(RestoreError, match=r"differs from the live one in links\.$"):
        drill.require_same()
    with pytest.raises(RestoreError, match="3 subjects are late"):
        RestoreDrill(live=live, restored=drill.restored, late_subjects=3).require_same()
