"""The reader that read a turn is kept with what it gave."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0017_reader"
down_revision = "0016_comments"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0017_reader.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
