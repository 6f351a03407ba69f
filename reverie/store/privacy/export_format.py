"""The format of an export: a first line that names its owner, then one row of a table per line."""

from __future__ import annotations

#: The format's name in the first line of `log.jsonl`, beside its version.
FORMAT = "reverie export"
VERSION = 1

#: Tables in an export, in order: the log, and other tables that outlive memory. With the kept replies, the importing
#: side need not pay for them again. An import writes consents after turns and events.
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
