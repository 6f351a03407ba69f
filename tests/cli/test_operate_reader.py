"""`reverie reader reset` asks before it takes something back."""

from __future__ import annotations

from psycopg.types.json import Jsonb

from tests.cli.conftest import START, insert


def test_reset_asks_first(invoke, ask, world, conn) -> None:
    insert(
        conn, "ops.reader_heads", version="reader-1+2", reader="reader-1", head=Jsonb({}), models=["m"], replies=9,
        figures=Jsonb({}), made_at=START,
    )  # fmt: skip
    refused = invoke("reader", "reset")
    assert refused.exit_code != 0 and "Stop using reader-1+2 for tenant acme?" in refused.output
    assert [head["retired_at"] for head in ask("reader", "show")["heads"]] == [None]
    assert ask("reader", "reset", "--yes") == {"retired": "reader-1+2"}
    assert ask("reader", "reset") == {"retired": None}, "nothing to ask about"
    (head,) = ask("reader", "show")["heads"]
    assert head["retired_at"] is not None and "replies" in head
