"""How many candidates of a turn were left out."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0017_left_out.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
