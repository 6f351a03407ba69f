"""Capture: conversations in, rows of the log out (immediate tier; the only floor that writes `log.turns`).

- `files`       opening a file: compression, format, lines of bounded length
- `reading`     a file as batches of records, JSONL, CSV or Parquet
- `times`       event times as people write them
- `validation`  one record -> a turn, an outcome, or why not
- `append`      turns and outcomes into the log, once
- `importing`   all of it: a file into the log, what cannot go in into the dead letters
- `redrive`     dead letters tried again
- `acknowledge` turns as they are said, into the buffer, with what the rules make of them
- `moods`, `nearness`  what models are asked within a request
- `working_memory`     what is held of a session
- `observations`       the event bus
- `corrections` what a person says is wrong
"""
