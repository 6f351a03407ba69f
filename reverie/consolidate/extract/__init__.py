"""extract: turns and events become candidates for memory.

- `stage`: the stage
- `decide`: candidates of a batch of turns, by the rules
- `language_model`: turns read by a language model
- `claims`: what a language model's reply gives
- `events`: observations and documents
"""
