"""Documents that are about now."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0013_working_hint"
down_revision = "0012_analyze"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0013_working_hint.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
