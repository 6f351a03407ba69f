"""The queue of the deferred tier, and which vectors of a tenant are live."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    op.get_bind().connection.cursor().execute((sql_directory() / "migrations" / "0003_queue.sql").read_bytes())
