"""Imports: files and exports into the log; what cannot be read becomes a dead letter.

- `importing`: the import of a file
- `reading`: a file as batches of records
- `records`: a record of a file, and what stands in its place where there is none
- `files`: opening a file: compression, format, lines of bounded length
- `tables`: CSV and Parquet
- `formats/`: exports of other systems
- `field_names`: the usual names of fields in other systems
- `values`: the usual names of roles, and mapped values
- `cures`: advice when many records fail for one reason
- `redrive`: dead letters tried again
"""
