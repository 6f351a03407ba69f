"""Users of the database who are members of some of Reverie's roles, and of nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit
from uuid import uuid4

from psycopg.sql import SQL, Identifier

from reverie.store.connect import connect


@contextmanager
def login(url: str, *roles: str) -> Iterator[str]:
    """The URL of the same database for a new user who is a member of these roles, such as worker."""
    name, parts = f"plain_{uuid4().hex[:8]}", urlsplit(url)
    with connect(url) as admin:
        admin.execute(SQL("create role {} login password 'plain'").format(Identifier(name)))
        for role in roles:
            admin.execute(SQL("grant {} to {}").format(Identifier(f"reverie_{role}"), Identifier(name)))
        try:
            yield parts._replace(netloc=f"{name}:plain@{parts.hostname}:{parts.port}").geturl()
        finally:
            admin.execute(SQL("drop role {}").format(Identifier(name)))
