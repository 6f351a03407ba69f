"""facts: what is known by key, one value in force a key.

- `stage`: the stage
"""
