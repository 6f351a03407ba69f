"""Classifies turns as low-content, questions or events, and words tool calls as episodes."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl

from reverie.language.cues import wording
from reverie.language.cues.compiled import Rules
from reverie.language.pack import language_table

#: A question: from the last end of a sentence to "?".
_QUESTIONS: Final = r"[^.!?\n]*\?[?!\"')]*"
_OFFERS_HELP: Final = language_table("question").pattern("offers_help", re.IGNORECASE)


def is_question(text: str) -> bool:
    """Return whether the text only asks: without its questions, at most three words remain."""
    return "?" in text and len(re.sub(_QUESTIONS, "", wording.plain(text)).split(" ")) <= 4


def is_question_expr(text: pl.Expr) -> pl.Expr:
    """Return `is_question` for a column."""
    rest = wording.plain_expr(text).str.replace_all(_QUESTIONS, "")
    return text.str.contains("?", literal=True) & (rest.str.count_matches(" ", literal=True) <= 3)


def offers_help(text: str) -> bool:
    """Return whether the last question of a text only offers help: "Is there anything else I can help you with?"."""
    asked = re.findall(_QUESTIONS, wording.plain(text))
    return bool(asked) and _OFFERS_HELP.search(asked[-1]) is not None


def low_content(text: str, rules: Rules) -> bool:
    """Return whether the text has no content ("lol", "ok", only emoji), by the policy's list. It gives no episode."""
    return rules.low_content.python.search(wording.plain(text)) is not None


def low_content_expr(text: pl.Expr, rules: Rules) -> pl.Expr:
    """Return `low_content` for a column."""
    return wording.plain_expr(text).str.contains(rules.low_content.rust)


def episode_of_tool_call(call: Mapping[str, Any]) -> str:
    """Return the episode of a tool call: `name: key value, ... → result — why`.

    `call` has `name` and `arguments`, and optionally `why` and `result`, as in an imported turn.
    """
    arguments = ", ".join(f"{key} {_short(value)}" for key, value in (call.get("arguments") or {}).items())
    what = str(call["name"]).replace("_", " ") + (f": {arguments}" if arguments else "")
    result = f" → {_short(call['result'])}" if call.get("result") not in (None, "") else ""
    why = f" — {call['why']}" if call.get("why") else ""
    return f"{what}{result}{why}"


def _short(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_short(item)}" for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_short, value))
    return str(value)
