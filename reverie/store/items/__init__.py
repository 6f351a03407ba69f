"""Items that callers keep beside memory.

- `key_value`: the key-value store of agent frameworks
"""
