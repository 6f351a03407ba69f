"""Dead letters quote nothing, and readers may see the revision."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0021_details.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
