"""No statistics of long texts, vectors and posting lists."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0012"
down_revision = "0009"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0012_statistics.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
