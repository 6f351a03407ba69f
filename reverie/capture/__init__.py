"""Capture: writes conversations to the log. No other package writes `log.turns`.

- `history/`: imports files and exports
- `live/`: accepts turns and observations as they arrive
- `append`: appends turns, outcomes and imported statements idempotently
- `record_fields`: the fields of records and their limits
- `validation`: turns a record into a turn, an outcome, a statement or a rejection
- `redaction`: takes secrets out of turns, statements and dead letters
- `identity`: the content hashes that tell a repeat from a conflict
- `mending`: repairs text that Postgres cannot store
- `times`: parses event times
"""
