"""embed: turns and memories get vectors and terms.

- `stage`: the stage
"""
