"""The three schemas' first tables."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Run the SQL file of this revision."""
    op.get_bind().connection.cursor().execute((sql_directory() / "migrations" / "0001_initial.sql").read_bytes())
