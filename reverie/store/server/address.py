"""The URL of the database, DATABASE_URL or that of the embedded server, and its forms for other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reverie.settings import Settings


def database_url(settings: Settings) -> str:
    """Return DATABASE_URL if it is set, else the URL of the embedded server, which is started if necessary.

    Raises DatabaseError if no URL is set and the embedded server is not installed or does not start.
    """
    if settings.database_url is not None:
        return settings.database_url.get_secret_value()
    from reverie.store.server.embedded import embedded_postgres  # needs an extra

    return embedded_postgres(settings).start()


def running_url(settings: Settings) -> str | None:
    """Return DATABASE_URL, else the URL of the embedded server if it runs, else None. Does not start the server."""
    if settings.database_url is not None:
        return settings.database_url.get_secret_value()
    from reverie.store.server.embedded import embedded_postgres  # needs an extra

    server = embedded_postgres(settings)
    return server.url() if server.status().running else None


#: The environment variables of libpq (psql, dbt, psycopg2) for the parts of a URL.
_LIBPQ = {
    "host": "PGHOST",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
}


def libpq_environment(url: str, role: str) -> dict[str, str]:
    """Return the URL as libpq's environment variables. A session that uses them begins as the database role `role`."""
    from psycopg.conninfo import conninfo_to_dict

    parts = conninfo_to_dict(url)
    named = {variable: str(parts[part]) for part, variable in _LIBPQ.items() if parts.get(part)}
    return named | {"PGOPTIONS": f"-c role={role}"}
