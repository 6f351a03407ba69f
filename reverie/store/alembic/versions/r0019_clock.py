"""A tenant may have a clock that stands still."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0019"
down_revision = "0017"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0019_clock.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
