"""`reverie digest`: a digest for the comparison of memories."""

from __future__ import annotations


def test_digest(invoke, ask, world, conn) -> None:
    before = ask("digest")
    assert before["memories_rows"] == 3
    assert invoke("digest").stdout.startswith(before["sha256"] + "\n")
    conn.execute("insert into memory.accesses select 'acme', gen_random_uuid(), gen_random_uuid()")
    assert ask("digest")["sha256"] != before["sha256"]
    assert invoke("keys", "add", "first", "--tenant", "other").exit_code == 0
    assert ask("digest", "--tenant", "other")["memories_rows"] == 0
