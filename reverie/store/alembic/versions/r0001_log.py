"""The schema `log`: what was said and done."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0001_log"
down_revision = None


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0001_log.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
