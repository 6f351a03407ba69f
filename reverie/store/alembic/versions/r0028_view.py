"""Who looked at a flagged message, and receipts of erasures that move with their tenant."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0028_view"
down_revision = "0027_assist"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0028_view.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
