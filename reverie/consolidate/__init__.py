"""Log to memory: one package a stage, in the order of a run.

- `extract/`: turns and events become candidates for memory
- `embed/`: turns and memories get vectors and terms
- `signal/`: messages get moods, days get figures, and triggers follow from them
- `merge/`: candidates become memories; what was said before in other words becomes one memory
- `link/`: memories are linked to the entities that they name
- `facts/`: what is known by key
- `synthesize/`: observations become a profile
- `compress/`: episodes become patterns, sessions become summaries
- `score/`: importance from novelty, recalls and outcomes
- `prune/`: what is due is forgotten
- `decay/`: importance fades
- `correct/`: corrections by a person, worked in at their own time
- `stages`: the list of the stages
- `memories`: the one writer of candidates, memories and lineage
- `retention`: when a candidate ends by its words or by the retention of its class
- `forgetting`: memories end, tombstones stay
- `isolate`: a failing item is set aside and the rest goes on

A stage reads (SQL), decides (pure functions) and writes (SQL, with its row of the run ledger in the same transaction).
`reverie.drive` runs the stages.
"""
