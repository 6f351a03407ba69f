"""Capture: writes conversations to the log. No other package writes `log.turns`.

- `history/`: imports files and exports
- `live/`: accepts turns and observations as they arrive
- `append`: appends turns and outcomes idempotently
- `validation`: turns a record into a turn, an outcome or a rejection
- `redaction`: takes secrets out of turns
- `identity`: the content hash that tells a repeated turn from a conflict
- `mending`: repairs text that Postgres cannot store
- `times`: parses event times
"""
