"""The schema `ops`: how the work goes."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0003_ops"
down_revision = "0002_memory"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0003_ops.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
