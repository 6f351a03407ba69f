"""decay: importance fades.

- `stage`: the stage
"""
