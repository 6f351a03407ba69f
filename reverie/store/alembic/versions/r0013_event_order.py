"""Turns of a session are indexed in event time."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0013_event_order.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
