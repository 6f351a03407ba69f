"""extract: turns and events become candidates for memory.

- `stage`: the stage
- `read`: turns and events that no run has read
- `reading`: statements that the reader finds in messages
- `kept`: the reader with its stored answers
- `decide`: the policy's rules applied to a batch of turns
- `events`: the policy's rules applied to events
- `language_model`: extraction by a language model
- `own_words`: statements kept in the words of the message, without repetitions
- `stated`: statements of a reader as candidates
- `claims`: which claims of a language model are accepted
- `claimed`: accepted claims as candidates
- `agreement`: claims that state what the reader found too
- `write`: writes candidates, lineage and the verdicts on turns and events
"""
