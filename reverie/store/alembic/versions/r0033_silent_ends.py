"""Messages that state nothing, and what they end."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0033_silent_ends"
down_revision = "0032_ended_by"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0033_silent_ends.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
