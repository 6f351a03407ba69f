"""Numbers of messages and outcomes, of which trends are told."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0026_insights"
down_revision = "0025_life_events"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0026_insights.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
