"""embed: turns and memories get vectors and terms, so that recall can find them.

`stage` runs it. `read` has the turns and memories that lack a vector, `decide` cuts them into parts and works out what
recall weighs, `vectors` asks the model about texts that the cache lacks, and `write` stores everything.
"""
