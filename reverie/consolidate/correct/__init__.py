"""correct: corrected memories are forgotten or replaced.

- `stage`: the stage
- `read`: corrections that wait
- `decide`: the values in force after others are gone
- `write`: forgotten, replaced and pinned memories
"""
