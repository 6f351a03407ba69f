"""The only code that touches Postgres.

- `connect`   one address, one role, one tenant; errors as sentences; nothing but psycopg imported
- `embedded`  a Postgres of one's own where DATABASE_URL is not set; `programs` runs its binaries
- `migrate`   brings a database to the current schema
- `queries`   the SQL of `sql/queries/`, by name
- `database`  `Store`, the handle that stages, capture and recall get; `AsyncStore`, its twin for asyncio
- `steps`     operations written once and run by either
- `runs`      the run ledger
"""
