"""Signals: moods of all messages, daily figures, difficult periods, relationships, ties and triggers."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0021_signals"
down_revision = "0020_erasure"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0021_signals.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
