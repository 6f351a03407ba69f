"""The log of turns, from which everything is derived. Applications and `reverie import` write it."""

import dagster as dg

from assets.described import OWNERS, described

turns = dg.AssetSpec(
    "turns",
    group_name="log",
    description="Every turn of every conversation, once; append-only. `reverie import` and the API write it. "
    "Its events show how much of the log is read (sensor `months_with_turns`).",
    kinds={"postgres"},
    owners=OWNERS,
    metadata=described("log.turns", "importing.md"),
)
