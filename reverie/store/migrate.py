"""Migrates a database to the current schema: the bootstrap script, then the numbered `.sql` files through Alembic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.sql import SQL, Identifier

from reverie.errors import DatabaseError
from reverie.store.connect import check_server, connect
from reverie.store.queries import queries, sql_directory
from reverie.store.revisions import known_revisions, read_revision, require_known

#: Advisory lock that makes concurrent migrations of one database wait for each other.
_LOCK = 7_163_829

NOT_FOLDING = (
    "the locale of this database does not fold the case of all letters, so recall misses words that differ in case, "
    "such as Ó and ó"
)
#: The statement for a database whose locale does.
CREATE_FOLDING = "create database NAME template template0 encoding 'UTF8' locale 'C.UTF-8'"


def migrate(url: str, *, any_locale: bool = False) -> str:
    """Apply all pending migrations and return the resulting revision.

    `any_locale`: accept a new database whose locale does not fold case.

    Raises:
        DatabaseError: the server is unreachable, too old or without pgvector; the user may not create roles; the locale
            of a new database does not fold case; or the database was made by a newer Reverie, or by one from before
            the first release.
    """
    with connect(url) as conn:
        conn.autocommit = True
        check_server(conn)
        if not any_locale and not folds_case(conn) and not _is_migrated(conn):
            raise DatabaseError(f"{NOT_FOLDING[0].upper()}{NOT_FOLDING[1:]}: make another one with {CREATE_FOLDING}.")
        conn.execute("select pg_advisory_lock(%s)", (_LOCK,))
        try:
            conn.execute((sql_directory() / "bootstrap.sql").read_bytes())
        except psycopg.errors.InsufficientPrivilege as error:
            raise DatabaseError(_missing_rights(conn)) from error
        with connect(url, role="owner") as owner:
            require_known(read_revision(owner))
        return _upgrade(url)


def folds_case(conn: Connection[Any]) -> bool:
    """Return whether the locale of the database folds the case of all letters, as recall by words needs it."""
    return bool((conn.execute(queries("migrate")["folds_case"]).fetchone() or (False,))[0])


def _is_migrated(conn: Connection[Any]) -> bool:
    return bool((conn.execute(queries("migrate")["is_migrated"]).fetchone() or (False,))[0])


def _missing_rights(conn: Connection[Any]) -> str:
    """Return what an administrator has to do: bootstrap.sql grants the roles to the user that runs it, not to ours."""
    names = {"user": Identifier(conn.info.user), "database": Identifier(conn.info.dbname)}
    grants = SQL(
        "grant reverie_owner, reverie_worker, reverie_reader, reverie_analyst, reverie_eraser to {user}; "
        "grant create on database {database} to {user}"
    ).format(**names)
    return (
        f"User {conn.info.user} may not create Reverie's roles, schemas or the vector extension, or act in the roles. "
        f"Let an administrator run sql/bootstrap.sql once in this database, and then: {grants.as_string(conn)};"
    )


def _upgrade(url: str) -> str:
    # imported here because alembic and sqlalchemy take half a second to import
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "alembic"))
    config.attributes["url"] = url
    command.upgrade(config, "head")
    return known_revisions()[-1]
