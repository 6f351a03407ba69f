"""Commands that query and correct memory.

- `recall`: answers a question from memory
- `context`: assembles the context for a language model
- `show`: lists the memories of a subject
- `explain`: traces a memory to its sources
- `inspect`: serves the inspector on this machine
- `conflicts`: lists memories that cannot both hold
- `subjects`: lists subjects
- `correct`: marks a memory as wrong, or replaces it
- `forget`: removes a memory
- `pin`: keeps a memory
- `unpin`: ends a pin
- `correcting`: code that `correct`, `forget`, `pin` and `unpin` share
- `assist`: suggests tools, finds lessons of other sessions, ranks an inbox, polls states
- `events`: lists life events, or writes them as a calendar
- `triggers`: lists reasons to act, and acknowledges them
- `webhooks`: sends triggers and changes of memories to other systems
- `undo`: undoes a merge or a supersession
- `digest`: prints the digest of a tenant's memory
"""
