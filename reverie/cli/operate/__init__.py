"""Commands that make memory, serve it and look after it.

- `migrate`: brings the database to the current schema
- `importing`: `reverie import`: files into the log
- `run`: the log into memory
- `rebuild`: makes a tenant's memory again
- `replay`: reads one session again
- `reembed`: changes a tenant's embedding model
- `dead_letters`: what could not be imported or worked in
- `serve`: the HTTP API
- `worker`: drains the queue
- `keys`: API keys
- `doctor`: checks the installation
- `checks`: the checks of `doctor`
- `runs`: the run ledger
- `clock`: the clock of a tenant
- `costs`: what models cost
- `maintain`: removes rows that are no longer needed
- `policy`: shows and compares policies
- `tenants`: lists tenants
- `db`: the embedded Postgres
"""
