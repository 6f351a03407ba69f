"""A reply of an OpenAI-compatible model, whole or in parts, from Chat Completions or Responses."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from reverie_client.chat.messages import text_of, value_of
from reverie_client.request import new_id
from reverie_client.routes.turns import ToolCall, Turn


@dataclass
class Reply:
    """The part of a reply that has arrived so far."""

    text: str = ""
    #: Name and arguments (JSON) of each call, by its place.
    calls: dict[int, list[str]] = field(default_factory=dict)

    def take(self, part: Any) -> None:
        """Add a completion, a response, or a part of the stream of either."""
        for choice in value_of(part, "choices") or []:
            said = value_of(choice, "message") or value_of(choice, "delta")
            # of several replies to one question only the first is in the conversation
            if said is not None and not value_of(choice, "index"):
                self._take_message(said)
                break
        for item in value_of(part, "output") or []:
            self.text += text_of(item) if value_of(item, "type") == "message" else ""
            self._take_item(item)
        match value_of(part, "type"):
            case "response.output_text.delta":
                self.text += value_of(part, "delta") or ""
            case "response.output_item.done":
                self._take_item(value_of(part, "item"))

    def turn(self) -> Turn | None:
        """Return the assistant's turn, or None if nothing has arrived."""
        calls = [
            ToolCall(name=name[:200], arguments=_object(arguments)) for name, arguments in self.calls.values() if name
        ]
        if not self.text.strip() and not calls:
            return None
        return Turn(source_id=new_id(), role="assistant", text=self.text, tool_calls=calls or None)

    def _take_message(self, said: Any) -> None:
        """Add a message of Chat Completions. A tool call may arrive in parts, the first of which has its name."""
        self.text += text_of(said)
        for place, call in enumerate(value_of(said, "tool_calls") or []):
            function, index = value_of(call, "function"), value_of(call, "index")
            name, arguments = self.calls.setdefault(place if index is None else index, ["", ""])
            self.calls[place if index is None else index] = [
                name + (value_of(function, "name") or ""),
                arguments + (value_of(function, "arguments") or ""),
            ]

    def _take_item(self, item: Any) -> None:
        """Add an item of Responses, in which a tool call is a separate item."""
        if value_of(item, "type") == "function_call":
            self.calls[len(self.calls)] = [value_of(item, "name") or "", value_of(item, "arguments") or ""]


def _object(text: str) -> dict[str, Any]:
    """Return arguments as an object; anything else is kept as the text that the model wrote."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"text": text}
