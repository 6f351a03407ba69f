"""Items that callers store beside memory.

- `key_value`: the key-value store of agent frameworks
"""
