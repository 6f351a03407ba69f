"""The only code that touches Postgres.

- `privacy/`: consent, receipts of erasures, exports
- `server/`: which server is used, and an embedded Postgres
- `connect`: connections: one role, one tenant, errors as sentences
- `database`: the handle that stages, capture and recall get, sync and async
- `session/`: the session of a tenant, over which operations are written once for sync and async
- `entries`: rows of the log of answers
- `columns`: lists and vectors as parameters, reals as results
- `queries`: the SQL of `sql/queries/`, by name
- `runs`: the run ledger
- `queue`: sessions that wait to become memory
- `source/`: another Postgres that turns are imported from
- `failures`: items that a stage failed on
- `dead_letters`: records that could not be imported
- `active_model`: the embedding model of a tenant
- `small_models/`: what is kept of small models of Reverie's own
- `items/`: items that callers keep beside memory
- `work`: what a stage run is given
- `locks`: locks of subjects
- `marks`: marks of corrections
- `plans`: hints to the planner
- `tenants`: which tenants are known, and their policies
- `clock`: the clock of a tenant
- `digest`: the digest of a tenant's memory
- `migrate`: brings a database to the current schema
- `revisions`: the schema's revision
"""
