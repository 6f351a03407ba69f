"""What evaluations measured."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0008_evaluations"
down_revision = "0007_sources"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0008_evaluations.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
