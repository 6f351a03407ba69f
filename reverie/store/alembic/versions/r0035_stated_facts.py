"""Structured facts say what they state."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0035_stated_facts"
down_revision = "0034_doubts"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0035_stated_facts.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
