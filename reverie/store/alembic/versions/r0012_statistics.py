"""No statistics of long texts, vectors and posting lists; room beside lists that are rewritten."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0012"
down_revision = "0010"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0012_statistics.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
