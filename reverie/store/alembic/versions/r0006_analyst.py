"""What data teams may read of all tenants: columns without content."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0006_analyst"
down_revision = "0005_attributes"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0006_analyst.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
