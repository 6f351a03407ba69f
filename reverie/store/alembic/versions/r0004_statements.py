"""What memories state, and from when to when it holds."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0004_statements"
down_revision = "0003_ops"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0004_statements.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
