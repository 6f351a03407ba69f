"""What messages may be about, of which changes are told."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0030_topics"
down_revision = "0029_judged_ends"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0030_topics.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
