"""What became of every memory, and who the subjects are."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0011_lives"
down_revision = "0010_measures"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0011_lives.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
