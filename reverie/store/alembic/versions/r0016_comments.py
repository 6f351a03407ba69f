"""Descriptions of tables and columns are plainer English."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0016_comments"
down_revision = "0015_retract"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0016_comments.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
