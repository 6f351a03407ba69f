"""How sure readers are, and the reader's head of a tenant."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0018_distill"
down_revision = "0017_reader"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0018_distill.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
