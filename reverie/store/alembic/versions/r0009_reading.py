"""Turns that a language model reads too: who read each, why nobody did, and what a memory states by key."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0009_reading.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
