"""score: importance from novelty, recalls and outcomes.

- `stage`: the stage
"""
