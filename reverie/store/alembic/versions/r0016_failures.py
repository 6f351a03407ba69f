"""Dead letters of items and subjects that a stage cannot work in."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0016_failures.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
