"""Keys of the API."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    op.get_bind().connection.cursor().execute((sql_directory() / "migrations" / "0004_api_keys.sql").read_bytes())
