"""Events that were imported from other memory systems, and the key-value store of agent frameworks."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0024_reach"
down_revision = "0023_bounded"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0024_reach.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
