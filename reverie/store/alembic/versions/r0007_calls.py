"""Calls of models: what each cost, what came of it, what a tenant may still spend, and how fast it may ask."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0007"
down_revision = "0005"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0007_calls.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
