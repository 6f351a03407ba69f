"""Heads of the reader in the database: one in force at a time, and of each tenant its own."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from reverie.store.database import Store
from reverie.store.small_models.reader_heads import KeptHead, adopt_head, head_in_force, kept_heads, retire_head

AT = datetime(2026, 5, 1, tzinfo=UTC)
HEAD = KeptHead(
    version="r+1", reader="r", head={"weights": [1.5]}, models=["m"], replies=1200, figures={"turns": 400}, made_at=AT
)  # fmt: skip


def test_one_is_in_force_and_one_that_was_can_be_again(database_url: str) -> None:
    with Store.open(database_url) as store:
        with store.transaction("acme") as conn:
            assert head_in_force(conn, "acme") is None and retire_head(conn, "acme", AT) is None
            adopt_head(conn, "acme", HEAD)
            assert head_in_force(conn, "acme") == HEAD
            later = AT + timedelta(days=1)
            adopt_head(conn, "acme", replace(HEAD, version="r+2", made_at=later))
            assert [(one.version, one.retired_at) for one in kept_heads(conn, "acme")] == [
                ("r+2", None),
                ("r+1", later),
            ]
            adopt_head(conn, "acme", replace(HEAD, made_at=later + timedelta(days=1)))
            assert [one.version for one in kept_heads(conn, "acme")] == ["r+1", "r+2"]
            assert retire_head(conn, "acme", later) == "r+1" and head_in_force(conn, "acme") is None
        with store.transaction("other") as conn:
            assert kept_heads(conn, "acme") == kept_heads(conn, "other") == []
