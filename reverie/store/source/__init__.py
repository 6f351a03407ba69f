"""Another Postgres that turns are imported from: what is read of it, and how far.

- `reader`: reads the rows of a query, in batches, in a read-only transaction
- `place`: how far a source was read, by its name
"""
