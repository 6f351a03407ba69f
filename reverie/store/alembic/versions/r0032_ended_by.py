"""The turn that ended a memory."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0032_ended_by"
down_revision = "0031_answers"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0032_ended_by.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
