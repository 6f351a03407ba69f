"""Marks of what a correction withholds or keeps, replacements that wait, and who corrected."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0015"
down_revision = "0013"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0015_correcting.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
