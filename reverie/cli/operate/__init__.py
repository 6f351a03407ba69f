"""Commands that build, serve and operate memory.

- `migrate`: brings the database to the current schema
- `importing`: `reverie import`: imports files into the log
- `run`: builds memory from the log
- `rebuild`: empties a tenant's memory and builds it again
- `replay`: extracts one session again
- `reembed`: changes a tenant's embedding model
- `dead_letters`: lists and retries records and sessions that failed
- `serve`: serves the HTTP API
- `worker`: drains the queue
- `keys`: creates, lists and revokes API keys
- `doctor`: checks the installation
- `checks`: the checks of `doctor`
- `runs`: shows the run ledger
- `clock`: stops and starts the clock of a tenant
- `costs`: shows what models cost, and sets credits
- `reader`: teaches the reader from a language model's replies
- `maintain`: removes rows that are no longer needed
- `policy`: shows and compares policies
- `tenants`: lists tenants
- `db`: controls the embedded Postgres
"""
