"""Consolidation: turns the log into memory, with one package per stage, in the order of a run.

- `extract/`: turns and events become candidates for memory
- `embed/`: turns and memories get vectors and terms
- `signal/`: messages get moods, days get figures, and triggers follow from them
- `merge/`: candidates become memories; a repeat in other words joins the memory that it repeats
- `link/`: memories are linked to the entities that they name
- `facts/`: statements come into force, are superseded or conflict; structured facts are made
- `synthesize/`: observations become a profile
- `compress/`: episodes become patterns, sessions become summaries
- `score/`: novelty, recalls and outcomes set importance
- `prune/`: memories that are due are forgotten
- `decay/`: importance fades
- `correct/`: corrections by a person are applied, each at its own time
- `stages`: the list of the stages
- `memories`: the only writer of candidates, memories and lineage
- `retention`: the end of a candidate, by its words or by the retention of its class
- `forgetting`: memories are deleted, tombstones stay
- `isolate`: a failing item is set aside, the rest goes on

A stage reads (SQL), decides (pure functions) and writes (SQL, with its row of the run ledger in the same transaction).
`reverie.drive` runs the stages.
"""
