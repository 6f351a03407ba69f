"""`reverie migrate`, and commands on a database without a schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from uuid import uuid4

import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier

from reverie.store.connect import connect
from reverie.store.migrate import migrate
from reverie.store.queries import sql_directory
from reverie.store.server.beside import drop_beside, url_beside
from tests.logins import login


@pytest.fixture
def ascii_url(server_url: str) -> Iterator[str]:
    """A new database whose locale folds the case of ASCII alone."""
    name = f"reverie_test_c_{uuid4().hex[:8]}"
    with connect(server_url) as admin:
        admin.execute(SQL("create database {} template template0 encoding 'UTF8' locale 'C'").format(Identifier(name)))
    yield url_beside(server_url, name)
    drop_beside(server_url, name)


def test_migrate(invoke, empty_database_url: str) -> None:
    there = {"DATABASE_URL": empty_database_url}
    first = invoke("migrate", "--json", env=there)
    assert first.exit_code == 0, first.output
    again = invoke("migrate", env=there)
    assert again.stdout == f"The database is at revision {json.loads(first.stdout)['revision']}.\n"


def test_a_database_without_schema_is_told_to_migrate(invoke, empty_database_url: str) -> None:
    for command in (["runs"], ["digest"], ["dead-letters"], ["show", "ana"], ["policy", "use", "brain"]):
        result = invoke(*command, env={"DATABASE_URL": empty_database_url})
        assert result.exit_code == 4, result.output
        assert "reverie migrate" in result.stderr


def test_a_new_database_whose_locale_folds_no_case_is_refused(invoke, ascii_url: str) -> None:
    there = {"DATABASE_URL": ascii_url}
    refused = invoke("migrate", env=there)
    assert refused.exit_code == 4, refused.output
    assert "such as Ó and ó: make another one with create database NAME" in refused.stderr
    with connect(ascii_url) as conn:
        assert conn.execute("select from pg_namespace where nspname = 'ops'").fetchone() is None
    migrate(ascii_url, any_locale=True)
    again = invoke("migrate", env=there)
    assert again.exit_code == 0 and "Warning: the locale of this database" in again.stderr
    (line,) = (line for line in invoke("doctor", env=there).stdout.splitlines() if line[5:].startswith("locale"))
    assert line.startswith("warn") and "locale 'C.UTF-8'" in line


def test_the_grants_that_the_error_names_are_enough(invoke, template: str, empty_database_url: str) -> None:
    """The roles are there, as another database of the server has them, and the user owns nothing but its database."""
    with login(empty_database_url) as url:
        refused = invoke("migrate", env={"DATABASE_URL": url})
        assert refused.exit_code == 4, refused.output
        _, _, grants = refused.stderr.partition("and then: ")
        with connect(empty_database_url) as admin:
            admin.execute((sql_directory() / "bootstrap.sql").read_bytes())
            admin.execute(grants.encode())
            done = invoke("migrate", env={"DATABASE_URL": url})
            admin.execute(SQL("drop owned by {}").format(Identifier(conninfo_to_dict(url)["user"])))
    assert done.exit_code == 0, done.output
