"""embed: turns and memories get vectors and terms, so that recall can find them.

- `stage`: the stage
- `read`: turns and memories that lack a vector
- `decide`: the parts that texts are cut into, and what recall weighs
- `vectors`: the model asked about texts that the cache lacks
- `write`: vectors, terms and items
"""
