"""The live tier: working memory, turns on their way to the log, the event bus."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    op.get_bind().connection.cursor().execute((sql_directory() / "migrations" / "0002_live.sql").read_bytes())
