"""Connections: who they act as, whom they see, and what a user reads when they fail."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from reverie.errors import DatabaseError, InputError
from reverie.settings import load_settings
from reverie.store.connect import check_server, connect, database_errors, open_pool, tenant_transaction
from reverie.store.migrate import migrate
from reverie.store.queries import queries
from reverie.store.revisions import NOT_MIGRATED, known_revisions
from reverie.store.server.address import database_url as url_to_use
from reverie.store.server.programs import free_port

SECRET = "correct-horse"
TENANT = "select current_setting('reverie.tenant', true)"


@pytest.fixture
def stranger(server_url: str) -> Iterator[str]:
    """A login of the server that is a member of no role."""
    name = f"stranger_{uuid4().hex[:8]}"
    with connect(server_url) as admin:
        admin.execute(SQL("create role {} login password {}").format(Identifier(name), SECRET))
        yield name
        admin.execute(SQL("drop role {}").format(Identifier(name)))


def _changed(url: str, *, user: str | None = None, password: str = SECRET, database: str | None = None) -> str:
    parts = urlsplit(url)
    path = parts.path if database is None else f"/{database}"
    return f"postgresql://{user or parts.username}:{password}@{parts.hostname}:{parts.port}{path}"


def test_a_connection_acts_in_its_role_and_in_utc(database_url: str) -> None:
    for role, name in (("owner", "reverie_owner"), ("worker", "reverie_worker"), ("reader", "reverie_reader")):
        with connect(database_url, role=role) as conn:
            found = conn.execute("select current_user, current_setting('timezone'), current_setting('jit')").fetchone()
        assert found == (name, "UTC", "off")


def test_without_a_tenant_none_is_set(conn: psycopg.Connection) -> None:
    assert conn.execute(TENANT).fetchone() == ("",)


def test_a_connection_can_be_bound_to_a_tenant(database_url: str) -> None:
    with connect(database_url, tenant="o'brien") as conn:
        assert conn.execute(TENANT).fetchone() == ("o'brien",)


def test_a_tenant_transaction_ends_its_binding(conn: psycopg.Connection) -> None:
    with tenant_transaction(conn, "a") as inside:
        assert inside.execute(TENANT).fetchone() == ("a",)
    assert conn.execute(TENANT).fetchone() == ("",)


def test_a_tenant_transaction_that_fails_writes_nothing(conn: psycopg.Connection) -> None:
    conn.execute("create table written (n int)")
    with pytest.raises(ZeroDivisionError), tenant_transaction(conn, "a"):
        conn.execute("insert into written values (1)")
        raise ZeroDivisionError
    assert conn.execute("select count(*) from written").fetchone() == (0,)
    assert conn.execute(TENANT).fetchone() == ("",)


def test_a_tenant_transaction_refuses_to_nest(conn: psycopg.Connection) -> None:
    with tenant_transaction(conn, "a"):
        with pytest.raises(RuntimeError, match="outside any transaction"), tenant_transaction(conn, "b"):
            pass
        assert conn.execute(TENANT).fetchone() == ("a",)


def test_a_tenant_needs_a_name(conn: psycopg.Connection) -> None:
    with pytest.raises(InputError, match="name"), tenant_transaction(conn, ""):
        pass


def test_a_pool_hands_no_tenant_on(database_url: str) -> None:
    with open_pool(database_url, "reader", size=1) as pool:
        with pool.connection() as conn, tenant_transaction(conn, "a"):
            first = conn.info.backend_pid
        with pool.connection() as conn:
            assert conn.info.backend_pid == first
            assert conn.execute("select current_user, current_setting('reverie.tenant')").fetchone() == (
                "reverie_reader",
                "",
            )


def test_a_pool_survives_the_loss_of_its_connections(database_url: str, conn: psycopg.Connection) -> None:
    with open_pool(database_url, "worker", size=1) as pool:
        with pool.connection() as pooled:
            lost = pooled.info.backend_pid
        conn.execute("select pg_terminate_backend(%s, 5000)", [lost])
        with pool.connection() as pooled:
            assert pooled.execute("select current_user").fetchone() == ("reverie_worker",)
            assert pooled.info.backend_pid != lost


def test_a_pool_says_at_once_that_the_server_is_away() -> None:
    with pytest.raises(DatabaseError, match="No Postgres answers"):
        open_pool(f"postgresql://u:{SECRET}@127.0.0.1:{free_port()}/x", "worker")


def test_vectors_arrive_as_half_vectors(database_url: str) -> None:
    from pgvector import HalfVector

    with connect(database_url, vectors=True) as conn:
        found = conn.execute("select '[1,2,3]'::halfvec", binary=True).fetchone()
        assert found is not None
        assert isinstance(found[0], HalfVector)
        assert found[0].to_list() == [1, 2, 3]
        assert conn.execute("select %s::halfvec <-> '[1,2,3]'", [HalfVector([1, 2, 5])]).fetchone() == (2.0,)


def test_vectors_need_a_migrated_database(empty_database_url: str) -> None:
    with pytest.raises(DatabaseError, match="reverie migrate"):
        connect(empty_database_url, vectors=True)


def test_an_unknown_host() -> None:
    _refused("postgresql://u:correct-horse@no-such-host.invalid/x", "The host of Postgres, no-such-host.invalid:5432")


def test_nobody_answers() -> None:
    port = free_port()
    _refused(f"postgresql://u:{SECRET}@127.0.0.1:{port}/x", f"No Postgres answers at 127.0.0.1:{port}.")


def test_a_wrong_password(server_url: str) -> None:
    user = urlsplit(server_url).username
    _refused(_changed(server_url), f"refused the password of user {user}.")


def test_no_password(server_url: str, stranger: str) -> None:
    parts = urlsplit(server_url)
    _refused(f"postgresql://{stranger}@{parts.hostname}:{parts.port}/postgres", "the URL has none")


def test_an_absent_database(server_url: str, stranger: str) -> None:
    _refused(_changed(server_url, user=stranger, database="nowhere"), "has no database nowhere")


def test_a_url_that_cannot_be_read() -> None:
    _refused(f"postgresql://u:{SECRET}%%@host", "cannot be read")


def test_a_port_that_cannot_be() -> None:
    _refused(f"postgresql://u:{SECRET}@127.0.0.1:99999999/x", "port")


def _refused(url: str, sentence: str) -> None:
    with pytest.raises(DatabaseError) as caught:
        connect(url)
    assert sentence in str(caught.value)
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_role_that_the_schema_would_have_made(database_url: str) -> None:
    with pytest.raises(DatabaseError, match="reverie migrate"):
        connect(database_url, role="unheard_of")  # type: ignore[arg-type]


def test_a_user_who_may_not_take_the_role(database_url: str, stranger: str) -> None:
    with pytest.raises(DatabaseError, match=f"User {stranger} may not act as reverie_worker"):
        connect(_changed(database_url, user=stranger), role="worker")


def test_this_server_will_do(conn: psycopg.Connection) -> None:
    check_server(conn)


def test_a_server_whose_extension_is_not_created_yet_will_do(empty_database_url: str) -> None:
    with connect(empty_database_url) as conn:
        check_server(conn)


@pytest.mark.parametrize(
    ("version", "extension", "sentence"),
    [
        (140_012, ("0.8.0", None), "This server is Postgres 14; Reverie needs 15 or newer."),
        (150_002, None, "lacks the pgvector extension"),
        (160_001, ("0.6.2", None), "has pgvector 0.6.2; Reverie needs 0.7 or newer."),
        (160_001, ("0.8.0", "0.5.1"), "has pgvector 0.5.1"),
    ],
)
def test_a_server_that_will_not_do(version: int, extension: tuple[str, str | None] | None, sentence: str) -> None:
    # no such server is at hand: its two answers are given by a stand-in
    conn = SimpleNamespace(
        info=SimpleNamespace(server_version=version),
        execute=lambda query: SimpleNamespace(fetchone=lambda: extension if "'vector'" in query else (1,)),
    )
    with pytest.raises(DatabaseError, match=sentence):
        check_server(conn)  # type: ignore[arg-type]


def test_a_server_without_any_extension_has_lost_its_files() -> None:
    nothing = SimpleNamespace(fetchone=lambda: None)
    conn = SimpleNamespace(info=SimpleNamespace(server_version=160_001), execute=lambda query: nothing)
    with pytest.raises(DatabaseError, match="files of the Postgres server are gone.*reverie db start"):
        check_server(conn)  # type: ignore[arg-type]


@pytest.mark.parametrize("query", ["select * from memory.memories", "select * from no_such_table"])
def test_a_schema_that_is_not_there(empty_database_url: str, query: str) -> None:
    with connect(empty_database_url) as conn, pytest.raises(DatabaseError) as caught, database_errors():
        conn.execute(query)
    assert str(caught.value) == NOT_MIGRATED


def test_a_connection_that_breaks_at_work(database_url: str, conn: psycopg.Connection) -> None:
    with connect(database_url) as broken:
        conn.execute("select pg_terminate_backend(%s, 5000)", [broken.info.backend_pid])
        with pytest.raises(DatabaseError, match="Postgres cannot continue"), database_errors():
            broken.execute("select 1")
        with pytest.raises(DatabaseError, match="the connection was lost"), database_errors():
            broken.execute("select 1")


def test_a_bug_stays_a_bug(conn: psycopg.Connection) -> None:
    with pytest.raises(psycopg.errors.SyntaxError), database_errors():
        conn.execute("selct 1")


def test_database_url_always_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REVERIE_HOME", str(tmp_path))
    monkeypatch.setenv("DATABASE_URL", "postgresql+psycopg://u:p@example.org/x")
    assert url_to_use(load_settings()) == "postgresql://u:p@example.org/x"
    assert list(tmp_path.iterdir()) == []


def test_a_url_of_several_hosts_migrates(empty_database_url: str) -> None:
    parts = urlsplit(empty_database_url)
    login, _, host = parts.netloc.rpartition("@")
    several = f"postgresql://{login}@127.0.0.1:{free_port()},{host}{parts.path}"
    assert migrate(several) == known_revisions()[-1]


def test_a_connection_costs_the_import_of_psycopg_alone() -> None:
    code = "import sys, reverie.store.connect; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "psycopg" in loaded
    assert {"sqlalchemy", "alembic", "numpy", "psycopg_pool", "pydantic", "filelock", "psutil"}.isdisjoint(loaded)


def test_a_user_who_may_create_roles_migrates_without_being_a_superuser(
    server_url: str, template: str, stranger: str, empty_database_url: str
) -> None:
    name, user = urlsplit(empty_database_url).path[1:], Identifier(stranger)
    with connect(server_url) as admin:
        if admin.info.server_version < 160_000:
            pytest.skip("needs Postgres 16: before, whoever has a role as its admin may act in it")
        admin.execute(SQL("alter role {} createrole").format(user))
        admin.execute(SQL("alter database {} owner to {}").format(Identifier(name), user))
        # as it is since Postgres 16 for the creator of a role; the roles of this server are there for other tests
        for role in ("owner", "worker", "reader", "analyst", "eraser"):
            admin.execute(
                SQL("grant {} to {} with admin true, set false, inherit false").format(
                    Identifier(f"reverie_{role}"), user
                )
            )
    url = _changed(empty_database_url, user=stranger)
    try:
        with connect(empty_database_url) as admin:
            admin.execute("create extension vector")  # managed servers let their users do this
        with connect(url) as conn:
            assert len(conn.execute(queries("doctor")["missing_roles"]).fetchall()) == 5
        assert migrate(url) == known_revisions()[-1]
        with connect(url) as conn:
            assert conn.execute(queries("doctor")["missing_roles"]).fetchall() == []
    finally:
        with connect(empty_database_url) as admin:
            admin.execute(SQL("reassign owned by {} to current_user").format(user))
            admin.execute(SQL("drop owned by {}").format(user))
