"""Profiles: narrative, scaffold, what was learned about connections, and what was worked into them."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0008_profiles.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
