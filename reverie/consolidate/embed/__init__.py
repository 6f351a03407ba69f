"""embed: turns and memories get vectors and terms, so that recall can find them.

- `stage`: the stage
- `read`: turns and memories that lack a vector
- `decide`: the parts into which texts are cut, and the properties that recall weighs
- `vectors`: the embedding of texts that the cache lacks
- `write`: vectors, terms and items
"""
