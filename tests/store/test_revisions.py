"""A database of another revision is refused in one sentence, wherever it is opened."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from uuid import UUID

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from psycopg import Connection

from resources.connections import connected
from reverie.errors import DatabaseError
from reverie.store import migrate as migrating
from reverie.store.database import AsyncStore, Store
from reverie.store.migrate import migrate
from reverie.store.queries import sql_directory
from reverie.store.revisions import known_revisions

NEWER = (
    r"^This database was migrated by a newer Reverie \(revision 9999_later; this one ends at \d{4}_\w+\): "
    r"upgrade Reverie\.$"
)
OLDER = (
    r"^The schema of this database is at revision 0001_log and this Reverie needs \d{4}_\w+: run `reverie migrate`\.$"
)
UNRELEASED = (
    r"^This database was made by a Reverie from before the first release \(revision 0021\), which cannot be migrated: "
    r"set DATABASE_URL to a new database, or REVERIE_HOME to a new folder, and import again\.$"
)


def open_async(url: str) -> None:
    async def run() -> None:
        async with await AsyncStore.open(url, size=1):
            pass

    asyncio.run(run())


OPENINGS: list[Callable[[str], object]] = [
    lambda url: Store.open(url, role="worker", size=1),
    lambda url: Store.open(url, role="reader", size=1),
    open_async,
]


def test_revisions_are_those_of_alembic_in_their_order() -> None:
    config = Config()
    config.set_main_option("script_location", str(migrating.Path(migrating.__file__).parent / "alembic"))
    scripts = ScriptDirectory.from_config(config).walk_revisions()
    assert known_revisions() == tuple(reversed([script.revision for script in scripts]))


@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize(("revision", "sentence"), [("9999_later", NEWER), ("0001_log", OLDER), ("0021", UNRELEASED)])
def test_an_opening_refuses_another_revision(conn, database_url: str, opening, revision: str, sentence: str) -> None:
    conn.execute("update ops.migrations set version_num = %s", [revision])
    with pytest.raises(DatabaseError, match=sentence):
        opening(database_url)


def test_a_reader_of_before_may_not_see_the_revision_and_is_told_to_migrate(conn, database_url: str) -> None:
    conn.execute("revoke select on ops.migrations from reverie_reader")
    with pytest.raises(DatabaseError, match="run `reverie migrate`"):
        Store.open(database_url, role="reader", size=1)


@pytest.mark.parametrize(("revision", "sentence"), [("9999_later", NEWER), ("0001", UNRELEASED), ("0021", UNRELEASED)])
def test_migrate_leaves_an_unknown_database_alone(conn, database_url: str, revision: str, sentence: str) -> None:
    sentence = sentence.replace("0021", revision)
    conn.execute("update ops.migrations set version_num = %s", [revision])
    with pytest.raises(DatabaseError, match=sentence):
        migrate(database_url)
    assert conn.execute("select version_num from ops.migrations").fetchall() == [(revision,)]


def test_flows_refuse_it_too(conn, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url)
    conn.execute("update ops.migrations set version_num = '9999_later'")
    with pytest.raises(DatabaseError, match=NEWER), connected("minilm"):
        pass


@pytest.mark.parametrize(
    ("migration", "new", "wanted"),
    [
        ("0020_erasure", ["ops.erasure_keys"], "select tenant_id = 't' from ops.erasure_keys"),
        ("0021_signals", ["memory.signal_days"], "select day = '2026-01-05' and turns = 1 from memory.signal_days"),
        ("0025_life_events", [], "select day = '2026-01-05' and turns = 1 from memory.signal_days"),
        ("0026_insights", [], "select day = '2026-01-05' and turns = 1 from memory.signal_days"),
        ("0030_topics", [], "select day = '2026-01-05' and turns = 1 from memory.signal_days"),
    ],
)
def test_what_a_migration_fills_is_filled_from_rows_of_every_tenant(
    conn: Connection, migration: str, new: list[str], wanted: str
) -> None:
    """The owner migrates, and row-level security hides all rows from it: the part that fills is run as it is."""
    turn = UUID(int=1)
    conn.execute("insert into ops.tenants (tenant_id, policy) values ('t', 'reverie')")
    conn.execute(
        "insert into log.turns (tenant_id, id, subject_id, session_id, source_id, turn_index, role, said_at, text,"
        " content_hash) values ('t', %s, 'ana', 's', '1', 0, 'user', '2026-01-05T23:30:00Z', 'Hi, 5', '')",
        [turn],
    )
    conn.execute(
        "insert into memory.extractions (tenant_id, turn_id, subject_id, candidates, run_id)"
        " values ('t', %s, 'ana', 0, %s)",
        [turn, turn],
    )
    text = (sql_directory() / "migrations" / f"{migration}.sql").read_text()
    (part,) = re.findall(r"(?:^alter table \S+ no force .*\n)+(?s:.)+?(?:^alter table \S+ force .*\n)+", text, re.M)
    conn.execute("truncate ops.erasure_keys, memory.signal_days")
    for table in new:  # as it is when the migration has just made it
        conn.execute(f"alter table {table} disable row level security")
    conn.execute("set role reverie_owner")
    conn.execute(part)
    conn.execute("reset role")
    assert conn.execute(wanted).fetchall() == [(True,)]
    unforced = "select relname from pg_class where relrowsecurity and not relforcerowsecurity"
    assert conn.execute(unforced).fetchall() == []
