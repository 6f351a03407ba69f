"""Credits of subjects."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0014_subject_credits"
down_revision = "0013_working_hint"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0014_subject_credits.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
