"""Marks of recalls that were counted and of memories that were compared, so that each is read once."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0037_once"
down_revision = "0036_scale"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0037_once.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
