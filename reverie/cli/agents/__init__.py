"""Commands that connect agents to memory; they run the client, which is a distribution of its own.

- `client`: loads the client's modules, or says how to install them
- `mcp`: the MCP server over standard input and output
- `hooks`: hooks of coding agents
- `tools`: the definitions of the tools
"""
