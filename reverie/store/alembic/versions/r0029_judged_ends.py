"""What a language model says of the end of earlier statements."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0029_judged_ends"
down_revision = "0028_view"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0029_judged_ends.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
