"""Statistics are refreshed for tables that grew by a tenth."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0012_analyze"
down_revision = "0011_lives"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0012_analyze.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
