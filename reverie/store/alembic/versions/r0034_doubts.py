"""Statements that a later message may have ended."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0034_doubts"
down_revision = "0033_silent_ends"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0034_doubts.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
