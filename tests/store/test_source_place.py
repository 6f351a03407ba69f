"""How far a source was read: kept by tenant and name, never set back by rows without a value."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie.store.database import Store
from reverie.store.source.place import SourcePlace, keep_place, read_place

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("cursor", "value", "left"), [("id", "7", "7"), ("id", None, "5"), ("at", None, None), (None, None, None)]
)
def test_a_place(database_url: str, cursor: str | None, value: str | None, left: str | None) -> None:
    with Store.open(database_url, size=1) as store:
        assert read_place(store, "acme", "crm") is None
        first = SourcePlace(cursor="id", value="5", mapping={"text": "body"}, read_at=NOW)
        with store.transaction("acme") as conn:
            keep_place(conn, "acme", "crm", first)
        assert read_place(store, "acme", "crm") == first
        assert read_place(store, "beta", "crm") is None and read_place(store, "acme", "other") is None
        with store.transaction("acme") as conn:
            keep_place(conn, "acme", "crm", SourcePlace(cursor=cursor, value=value, read_at=NOW))
        assert read_place(store, "acme", "crm") == SourcePlace(cursor=cursor, value=left, read_at=NOW)
