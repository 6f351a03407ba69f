"""Databases beside the live one, on the same server and with the same schema."""

from __future__ import annotations

from typing import LiteralString
from urllib.parse import quote, unquote

import psycopg
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier

from reverie.errors import DatabaseError
from reverie.store.connect import connect
from reverie.store.migrate import migrate
from reverie.store.queries import queries

#: Maximum length of a name in Postgres, in bytes.
_LONGEST_NAME = 63


def database_name_of(url: str) -> str:
    """Return the name of a URL's database, by default that of its user."""
    given = conninfo_to_dict(url)
    return str(given.get("dbname") or given.get("user") or "postgres")


def name_beside(url: str, suffix: str) -> str:
    """Return the name of a database beside that of `url`: its name, cut if it is too long, and the suffix."""
    stem = database_name_of(url).encode()[: _LONGEST_NAME - len(suffix.encode())]
    return stem.decode(errors="ignore") + suffix


def url_beside(url: str, name: str) -> str:
    """Return the URL of another database on the same server."""
    scheme, _, rest = url.partition("://")
    user, at, _ = rest.partition("@")
    if "/" in user or not at:  # an @ after the first slash belongs to a parameter
        user = at = ""
    server, _, query = rest[len(user + at) :].partition("?")
    # libpq would use a `dbname` among the parameters instead of the name in the path
    kept = "&".join(each for each in query.split("&") if unquote(each.partition("=")[0]) != "dbname")
    return f"{scheme}://{user}{at}{server.partition('/')[0]}/{quote(name, safe='')}{kept and f'?{kept}'}"


def create_beside(url: str, name: str) -> str:
    """Make sure that a database of this name exists beside that of `url` and has the current schema; return its URL.

    Commits there do not wait for the disk: its content can be made again. If the URL leads to another database, a new
    one is dropped again.

    Raises:
        DatabaseError: the user may not create databases, the URL leads to another one, or the errors of `migrate`.
    """
    sql = queries("beside")
    with connect(url) as conn:
        is_new = conn.execute(sql["is_known"], {"name": name}).fetchone() is None
        if is_new:
            _administer(conn, sql["create"], name)
            _administer(conn, sql["relax"], name)
    there = url_beside(url, name)
    with connect(there) as conn:
        (reached,) = conn.execute(sql["current_name"]).fetchone() or ("",)
    if reached != name:  # a pooler may send every name to one database
        if is_new:
            drop_beside(url, name)
        raise DatabaseError(
            f"The URL of the new database {name} leads to the database {reached}: set DATABASE_URL to a URL that ends "
            "with the name of its database."
        )
    migrate(there, any_locale=True)  # it has the locale of the server, as the live one has
    return there


def drop_beside(url: str, name: str) -> None:
    """Drop a database beside that of `url` if it exists, even if others are connected to it. Raises DatabaseError."""
    with connect(url) as conn:
        _administer(conn, queries("beside")["drop"], name)


def _administer(conn: Connection[tuple[object, ...]], statement: LiteralString, name: str) -> None:
    try:
        conn.execute(SQL(statement).format(name=Identifier(name)))
    except psycopg.errors.InsufficientPrivilege as error:
        raise DatabaseError(
            f"User {conn.info.user} may not create and drop databases, which generations are kept in: "
            "grant it CREATEDB, or use another DATABASE_URL for this command."
        ) from error
    except (psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
        pass  # another process was first, or created it at the same moment
