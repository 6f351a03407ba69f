"""Life events: what happened or will happen, with its day."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0025_life_events"
down_revision = "0024_reach"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0025_life_events.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
