"""correct: what a person said is wrong is forgotten, and what they wrote instead is remembered.

- `stage`: the stage
"""
