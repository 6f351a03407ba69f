"""A language model that needs no server: it says of each item what the scripted server would."""

from __future__ import annotations

from typing import Any

from reverie.inference.completions import Completion, Limits
from reverie.inference.prompts import Messages
from tests.models.scripted_server import good_reply


class NoteTaker:
    """Answers at once and well, two requests of three items at a time."""

    key = "notes"
    limits = Limits(concurrency=2, per_request=3)

    def complete(self, messages: Messages, *, schema: dict[str, Any], max_tokens: int) -> Completion:
        """One reply an item, whatever company it is asked in."""
        text = good_reply({"messages": messages}, {})
        return Completion(text=text, truncated=False, tokens_in=100, tokens_out=20, cost_usd=0.001, seconds=0.0)

    def most_usd(self, messages: Messages, *, max_tokens: int) -> float:
        """A tenth of a cent."""
        return 0.001
