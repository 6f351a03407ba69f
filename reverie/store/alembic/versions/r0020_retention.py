"""What runs, answers and requests leave behind ends after a time."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0020_retention.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
