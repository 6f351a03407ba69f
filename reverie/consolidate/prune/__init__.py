"""prune: memories that are due are forgotten.

- `stage`: the stage
"""
