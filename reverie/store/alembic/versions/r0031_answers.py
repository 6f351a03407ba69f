"""What small models of our own gave for turns."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0031_answers"
down_revision = "0030_topics"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0031_answers.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
