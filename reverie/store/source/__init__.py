"""Another Postgres from which turns are imported: its rows, and the place up to which they were read.

- `reader`: reads the rows of a query, in batches, in a read-only transaction
- `place`: stores the place up to which a source was read, by its name
"""
