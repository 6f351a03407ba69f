"""Tables over several machines, where Citus is."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0009_distribution"
down_revision = "0008_evaluations"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0009_distribution.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
