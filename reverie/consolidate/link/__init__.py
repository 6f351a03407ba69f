"""link: memories are linked to the entities that they name.

- `stage`: the stage
"""
