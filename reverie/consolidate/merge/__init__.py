"""merge: candidates become memories, or merge into the memory that they repeat.

- `stage`: the stage
- `write`: writes merges
- `undo`: undoes a merge or a supersession
- `pairs`: pairs of memories that are near each other
- `decide`: the merges of near pairs
- `same`: the check whether two near memories say the same
- `wording`: a memory's text, as read for the comparison
"""
