"""Where Postgres is: the URL that the environment names, or that of the embedded server."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reverie.settings import Settings


def database_url(settings: Settings) -> str:
    """Return the `postgresql://` URL to use: DATABASE_URL if set, else the embedded server's, started if need be.

    Raises DatabaseError when no URL is set and the embedded server is absent or does not start.
    """
    if settings.database_url is not None:
        return settings.database_url.get_secret_value()
    from reverie.store.server.embedded import embedded_postgres  # needs an extra

    return embedded_postgres(settings).start()


def sqlalchemy_url(url: str) -> str:
    """Return the URL with its driver named, as SQLAlchemy, Alembic and Great Expectations need it."""
    _, _, rest = url.partition("://")
    return f"postgresql+psycopg://{rest}"
