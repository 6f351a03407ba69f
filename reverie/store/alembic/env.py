"""Alembic's entry: runs the migrations online, as the role that owns the schemas."""

from alembic import context
from sqlalchemy import create_engine, pool, text

engine = create_engine(context.config.attributes["url"], poolclass=pool.NullPool)
with engine.connect() as connection:
    connection.execute(text("set role reverie_owner"))
    context.configure(connection=connection, version_table="migrations", version_table_schema="ops")
    with context.begin_transaction():
        context.run_migrations()
    connection.commit()
