"""The revision of a database's schema, and the one that this Reverie needs.

The versions are read as text: Alembic takes half a second to import, and every command checks them.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from psycopg import Connection, errors

from reverie.errors import DatabaseError
from reverie.store.queries import queries

NOT_MIGRATED = "The database has no current Reverie schema: run `reverie migrate`."
#: Advice for a database that no migration can bring up to date.
START_ANEW = "set DATABASE_URL to a new database, or REVERIE_HOME to a new folder, and import again"

_VERSIONS = Path(__file__).parent / "alembic" / "versions"
#: Revisions from before the first release are numbers alone; later ones have a name as well, such as 0001_log.
_UNRELEASED = re.compile(r"\d{4}")
_ASSIGNED = re.compile(r'^(revision|down_revision)\b[^=\n]*= *(?:"(\w+)"|None)', re.MULTILINE)


@cache
def known_revisions() -> tuple[str, ...]:
    """Return the revisions that this Reverie can migrate a database to, the newest last."""
    following: dict[str, str] = {}
    for path in _VERSIONS.glob("r*.py"):
        found = dict(_ASSIGNED.findall(path.read_text(encoding="utf-8")))
        following[found["down_revision"]] = found["revision"]
    chain: list[str] = []
    before = ""
    while before in following:
        before = following.pop(before)
        chain.append(before)
    return tuple(chain)


def read_revision(conn: Connection[Any]) -> str | None:
    """Return the revision of the database; None: it has none, or one so old that this role may not read it."""
    try:
        row = conn.execute(queries("revisions")["read"]).fetchone()
    except (errors.UndefinedTable, errors.InvalidSchemaName, errors.InsufficientPrivilege):
        return None
    return str(row[0]) if row else None


def is_unreleased(revision: str) -> bool:
    """Return whether the revision is from before the first release; its migrations no longer exist."""
    return bool(_UNRELEASED.fullmatch(revision))


def require_current(revision: str | None) -> None:
    """Raise DatabaseError unless the revision is the newest that this Reverie knows; the sentence says what to do."""
    newest = known_revisions()[-1]
    require_known(revision)
    if revision is None:
        raise DatabaseError(NOT_MIGRATED)
    if revision != newest:
        raise DatabaseError(
            f"The schema of this database is at revision {revision} and this Reverie needs {newest}: "
            "run `reverie migrate`."
        )


def require_known(revision: str | None) -> None:
    """Raise DatabaseError if the revision is unreleased or from a newer Reverie."""
    if revision is None or revision in known_revisions():
        return
    if is_unreleased(revision):
        raise DatabaseError(
            f"This database was made by a Reverie from before the first release (revision {revision}), which cannot be "
            f"migrated: {START_ANEW}."
        )
    raise DatabaseError(
        f"This database was migrated by a newer Reverie (revision {revision}; this one ends at "
        f"{known_revisions()[-1]}): upgrade Reverie."
    )
