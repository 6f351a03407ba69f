"""Migrates a database to the current schema: the bootstrap script, then the numbered `.sql` files through Alembic."""

from __future__ import annotations

from pathlib import Path

import psycopg

from reverie.errors import DatabaseError
from reverie.store.connect import check_server, connect
from reverie.store.queries import sql_directory
from reverie.store.revisions import known_revisions, read_revision, require_known

#: Advisory lock that makes concurrent migrations of one database wait for each other.
_LOCK = 7_163_829


def migrate(url: str) -> str:
    """Apply all pending migrations and return the resulting revision.

    Raises:
        DatabaseError: the server is unreachable, too old or without pgvector; the user may not create roles; or the
            database was made by a newer Reverie, or by one from before the first release.
    """
    with connect(url) as conn:
        conn.autocommit = True
        check_server(conn)
        conn.execute("select pg_advisory_lock(%s)", (_LOCK,))
        try:
            conn.execute((sql_directory() / "bootstrap.sql").read_bytes())
        except psycopg.errors.InsufficientPrivilege as error:
            raise DatabaseError(
                "The database user may not create Reverie's roles, schemas or the vector extension; "
                "let an administrator run sql/bootstrap.sql once in this database."
            ) from error
        with connect(url, role="owner") as owner:
            require_known(read_revision(owner))
        return _upgrade(url)


def _upgrade(url: str) -> str:
    # imported here because alembic and sqlalchemy take half a second to import
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "alembic"))
    config.attributes["url"] = url
    command.upgrade(config, "head")
    return known_revisions()[-1]
