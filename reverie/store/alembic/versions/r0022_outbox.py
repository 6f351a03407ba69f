"""The outbox: subscriptions of webhooks, messages to deliver, and what subscribers know."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0022_outbox"
down_revision = "0021_signals"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0022_outbox.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
