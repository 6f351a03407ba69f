"""The schema `memory`: what is remembered."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0002_memory"
down_revision = "0001_log"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0002_memory.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
