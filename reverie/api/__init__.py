"""The HTTP API, under `/v1`: what an application calls on every message.

- `app` composes it: routes, errors, what requests share; `services` is that; `edge` stands around every request
- `keys` who is let in; `access` whose request it is and whether it may; `problems` every error as problem+json
- `flusher` moves quiet sessions to the log meanwhile
- `answers` JSON out; `fields` what several requests have in common; `paging` cursors; `metrics` for Prometheus
- `routing` how routes are made; `routes/` one module a noun: what comes in, what goes out, the operation in between
"""
