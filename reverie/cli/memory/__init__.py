"""Commands about what is remembered.

- `recall`: answers a question from memory
- `context`: prints the context for a language model
- `show`: lists what is remembered about a subject
- `explain`: traces one memory to its sources
- `subjects`: lists subjects
- `correct`: replaces a wrong memory
- `forget`: removes a memory
- `pin`: keeps a memory
- `unpin`: ends that
- `correcting`: what the four commands before share
- `undo`: parts two merged memories
- `digest`: the digest of a memory, for comparison
"""
