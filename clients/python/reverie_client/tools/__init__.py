"""Memory as tools for a language model: one definition of each, in the shapes of OpenAI, Anthropic and MCP.

    toolbox = Toolbox(subject_id="ana", session_id="s1")
    completion = openai.chat.completions.create(model=..., messages=..., tools=toolbox.definitions("openai"))
    for call in completion.choices[0].message.tool_calls:
        reply = toolbox.run(memory, call.function.name, call.function.arguments)

- `arguments`: the arguments of each tool, as pydantic models
- `catalogue`: the tools: description, arguments, answer, effect
- `errors`: messages for a model when a call fails
- `shapes`: the definitions in the shapes of OpenAI, Anthropic and MCP
- `toolbox`: runs a model's calls, for one subject or for the subject that the call names
"""

from __future__ import annotations

from reverie_client.tools.catalogue import AGENT_TOOLS, MCP_TOOLS, TOOLS, Tool
from reverie_client.tools.errors import ToolError
from reverie_client.tools.shapes import SHAPES, Shape, definition
from reverie_client.tools.toolbox import Toolbox

__all__ = [
    "AGENT_TOOLS",
    "MCP_TOOLS",
    "SHAPES",
    "TOOLS",
    "Shape",
    "Tool",
    "ToolError",
    "Toolbox",
    "definition",
]
