"""Imports files and exports into the log. A record that cannot be imported becomes a dead letter.

- `importing`: imports a file
- `exported`: imports an export of Reverie itself
- `database`: imports the rows of another Postgres
- `reading`: reads a file as batches of records
- `records`: the items of a file: records, broken items and skipped items
- `sorting`: validates the records of a batch, sorts them by type, and appends them
- `letters`: makes the dead letters of an import
- `files`: opens a file: compression, format, lines of bounded length
- `tables`: reads CSV and Parquet
- `formats/`: reads exports of other systems
- `field_names`: recognizes the usual field names of other systems
- `values`: recognizes the usual role names, and maps values
- `cures`: advises what to do when many records fail for one reason
- `redrive`: retries dead letters
"""
