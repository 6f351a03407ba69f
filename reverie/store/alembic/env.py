"""Alembic's entry: runs the migrations as the role that owns the schemas, and then what holds for every table."""

import psycopg
from alembic import context
from sqlalchemy import create_engine, pool, text

from reverie.store.queries import sql_directory

applied: list[str] = []
url: str = context.config.attributes["url"]
# SQLAlchemy would read the URL itself, and knows neither several hosts nor the parameters of libpq
engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(url), poolclass=pool.NullPool)
with engine.connect() as connection:
    connection.execute(text("set role reverie_owner"))
    context.configure(
        connection=connection,
        version_table="migrations",
        version_table_schema="ops",
        on_version_apply=lambda step, **_: applied.append(step.up_revision_id),
    )
    with context.begin_transaction():
        context.run_migrations()
        if applied:
            connection.connection.cursor().execute((sql_directory() / "every_table.sql").read_bytes())
    connection.commit()
