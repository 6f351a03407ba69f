"""Structured facts of a subject, and the log of assembled contexts."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0005_structured_facts.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
