"""prune: what is due is forgotten.

- `stage`: the stage
"""
