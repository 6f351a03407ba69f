"""score: importance from novelty, recalls and outcomes.

- `stage`: the stage
- `decide`: what recalls and outcomes make of importance
"""
