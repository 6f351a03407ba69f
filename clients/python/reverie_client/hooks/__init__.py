"""Memory without tool calls: a coding agent's hooks recall before a prompt and store after a reply.

- `script`: the program that the agent starts: one file, run by its path, that imports only the standard library
- `agents`: the file and form of each agent's hooks
- `install`: writes, removes and shows the hooks
"""
