"""Generations of a rebuild, and the subjects of whom history arrived late."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0019_generations"
down_revision = "0018_distill"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0019_generations.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
