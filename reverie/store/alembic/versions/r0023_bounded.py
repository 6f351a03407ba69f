"""Bounded memory: how many memories a subject had at fixed times after its first turn."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0023_bounded"
down_revision = "0022_outbox"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0023_bounded.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
