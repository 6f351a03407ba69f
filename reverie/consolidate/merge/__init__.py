"""merge: what was said before in other words becomes one memory.

- `stage`: the stage
- `write`: merges
- `undo`: a merge or a supersession is undone
- `pairs`: pairs of memories that are near each other
- `decide`: which of them are one
- `same`: whether two near memories say the same
- `wording`: what a memory says, for the comparison
"""
