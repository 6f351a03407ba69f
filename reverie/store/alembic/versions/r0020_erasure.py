"""Erasure: receipts, marks of what was erased, and consent by subject."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0020_erasure"
down_revision = "0019_generations"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0020_erasure.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
