"""The log of turns: what everything is derived from. Applications and `reverie import` write it."""

import dagster as dg

turns = dg.AssetSpec(
    "turns",
    group_name="log",
    description="Every turn of every conversation, once; append-only. `reverie import` writes it.",
    kinds={"postgres"},
    metadata={"dagster/table_name": "log.turns"},
)
