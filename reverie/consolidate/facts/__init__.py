"""facts: what is known by key, one value in force a key.

- `stage`: the stage
- `read`: what memories state by key
- `decide`: which values are in force
- `write`: the values in force
"""
