"""Capture: conversations in, rows of the log out. Nothing else writes `log.turns`.

- `history/`: imports of files and exports
- `live/`: turns and observations as they come
- `append`: turns and outcomes appended once
- `validation`: a record as a turn, an outcome, or the reason why it is neither
- `identity`: what makes two records the same turn
- `mending`: text that Postgres cannot store, repaired
- `times`: event times in the forms that people write
"""
