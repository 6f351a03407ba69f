"""score: novelty, recalls and outcomes set importance.

- `stage`: the stage
- `decide`: the effect of recalls and outcomes on importance
"""
