"""The turns and events of a corrected memory: its correction holds where another policy words it differently."""

from alembic import op

from reverie.store.queries import sql_directory

revision = "0038_corrected_turns"
down_revision = "0037_once"


def upgrade() -> None:
    """Run the SQL file of this revision."""
    path = sql_directory() / "migrations" / "0038_corrected_turns.sql"
    op.get_bind().connection.cursor().execute(path.read_bytes())
