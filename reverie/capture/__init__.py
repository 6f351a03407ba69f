"""Capture: conversations in, rows of the log out (immediate tier; the only floor that writes `log.turns`).

- `files`       opening a file: compression, format, lines of bounded length
- `reading`     a file as batches of records, JSONL, CSV or Parquet
- `times`       event times as people write them
- `validation`  one record -> a turn, an outcome, or why not
- `append`      turns and outcomes into the log, once
- `importing`   all of it: a file into the log, what cannot go in into the dead letters
- `redrive`     dead letters tried again
"""
