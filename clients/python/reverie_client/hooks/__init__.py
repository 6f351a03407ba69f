"""Memory without the model's help: a coding agent's hooks recall before a prompt and store after a reply.

- `script`: what the agent starts: one file of the standard library, run by its path, so that nothing else is imported
- `agents`: where each agent keeps its hooks, and in which form
- `install`: writes them, removes them, shows them
"""
