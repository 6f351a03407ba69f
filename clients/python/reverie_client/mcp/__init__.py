"""Memory over the Model Context Protocol: tools, resources and a prompt. Needs the extra `mcp`.

- `server`: the server, for any transport
- `pipes`: standard input and output as pipes of the event loop
- `stdio`: the server over standard input and output, for a desktop program or a coding agent

`reverie serve` offers the same server at `/mcp`.
"""
