"""correct: what a person said is wrong is forgotten, and what they wrote instead is remembered.

- `stage`: the stage
- `read`: corrections that wait
- `decide`: which values are in force once some are gone
- `write`: what is forgotten, replaced and pinned
"""
