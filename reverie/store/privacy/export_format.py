"""The format of an export: a first line that says whose it is, then a row of a table a line."""

from __future__ import annotations

#: Names the format in the first line of `log.jsonl`, with its version.
FORMAT = "reverie export"
VERSION = 1

#: Tables of which an export has the rows, in the order in which they are written again: the log, and what outlives
#: memory beside it. Kept replies spare the other side what was paid for.
LOG_TABLES = (
    "ops.consents",
    "log.turns",
    "log.moods",
    "log.events",
    "log.outcomes",
    "log.corrections",
    "log.acknowledgements",
    "log.recalls",
    "log.contexts",
    "ops.replies",
    "ops.reviews",
    "ops.store_items",
)
