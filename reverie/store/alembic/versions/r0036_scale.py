"""Indexes for what drains and maintenance ask of large tables."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0036_scale"
down_revision = "0035_stated_facts"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0036_scale.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
