"""Summaries name the turns of their session that they stand for."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0010_turn_ranges.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
