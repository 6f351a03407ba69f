"""extract: turns and events become candidates for memory.

`stage` runs it. `read` has the turns and events that no run has read; `decide` applies the policy's rules to a batch of
turns, `events` to events; `language_model` asks a language model about turns, and `claims` decides which of its claims
stand. `write` stores candidates, lineage, and what was decided on each turn and event.
"""
