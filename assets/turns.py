"""The log of turns: what everything is derived from. Applications and `reverie import` write it."""

import dagster as dg

turns = dg.AssetSpec(
    "turns",
    group_name="log",
    description="Every turn of every conversation, once; append-only. Written by `reverie import` and the API.",
    kinds={"postgres", "table"},
)
