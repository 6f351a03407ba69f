"""How far a table or query of another Postgres was read."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0007_sources"
down_revision = "0006_analyst"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0007_sources.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
