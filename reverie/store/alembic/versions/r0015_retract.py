"""A correction can be taken back."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0015_retract"
down_revision = "0014_subject_credits"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0015_retract.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
