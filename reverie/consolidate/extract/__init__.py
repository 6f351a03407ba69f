"""extract: turns and events become candidates for memory.

- `stage`: the stage
- `read`: turns and events that no run has read
- `reading`: what the reader finds in messages
- `kept`: the reader over what it read before
- `decide`: the policy's rules applied to a batch of turns
- `events`: the policy's rules applied to events
- `language_model`: a language model asked about turns
- `own_words`: which statements keep the words in which they were said
- `stated`: statements of a reader as candidates
- `claims`: which claims of a language model stand
- `claimed`: accepted claims as candidates
- `agreement`: claims that the reader found too
- `write`: candidates, lineage, and what was decided on each turn and event
"""
