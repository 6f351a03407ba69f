"""What turns and events belong to, and the cached tools of connections."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0005_attributes"
down_revision = "0004_statements"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0005_attributes.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
