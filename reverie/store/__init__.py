"""The only code that touches Postgres.

- `privacy/`: consent, receipts of erasures, exports
- `server/`: the Postgres server in use, or an embedded one
- `connect`: opens connections for one role and one tenant, with errors as sentences
- `database`: the handles that stages, capture and recall use, sync and async
- `session/`: the session of a tenant; operations are written once for sync and async
- `entries`: rows of the log of answers
- `columns`: lists and vectors as parameters, reals as results
- `queries`: the SQL of `sql/queries/`, by name
- `runs`: the run ledger
- `queue`: sessions that wait to become memory
- `source/`: reads another Postgres to import its turns
- `failures`: items on which a stage failed
- `dead_letters`: records that could not be imported
- `active_model`: the embedding model of a tenant
- `small_models/`: the stored answers and heads of Reverie's own small models
- `items/`: items that callers store beside memory
- `work`: the input of a stage run
- `locks`: locks on subjects
- `marks`: marks of corrections
- `plans`: hints to the planner
- `tenants`: the known tenants and their policies
- `clock`: the clock of a tenant
- `digest`: the digest of a tenant's memory
- `migrate`: brings a database to the current schema
- `revisions`: the schema's revision
"""
