"""What the quality gates compare."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0010_measures"
down_revision = "0009_distribution"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0010_measures.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
