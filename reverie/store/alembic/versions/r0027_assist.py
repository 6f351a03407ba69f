"""The state of each subject for a feed, and its versions."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0027_assist"
down_revision = "0026_insights"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0027_assist.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
