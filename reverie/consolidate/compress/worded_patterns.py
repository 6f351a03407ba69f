"""Patterns in the words of a language model: the rules decide theme and numbers, the model words them (spec C2).

A text is taken when it keeps what was worked out word for word, quotes an episode and names nobody and no number that
was not shown. Else the rules' wording stands; so it does where no reply could be had, as it says the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from reverie.consolidate.compress.themes import Decision, Episode, Told
from reverie.inference.completions import LanguageModel
from reverie.inference.prompts import load_prompt
from reverie.inference.replies import Reply
from reverie.language.grounding import is_quoted, ungrounded
from reverie.language.text import written_day
from reverie.llm.answers import InvalidReply
from reverie.llm.asking import ModelCaller, ask
from reverie.llm.inputs import PromptInput, input_hash
from reverie.store.database import Store
from reverie.store.runs import Run

#: Episodes, and decisions, that a model is shown: the latest.
_SHOWN = 40
#: Characters of an episode, and of a value in a tool call, that a model is shown.
_LETTERS = 400
_VALUE_LETTERS = 120
#: Tokens of a reply: two sentences and their quotes.
_MAX_TOKENS = 400


class ThemePattern(Reply):
    """What a model says of a theme."""

    pattern: Annotated[str, Field(min_length=1, max_length=1000)]
    #: Passages of the episodes, word for word.
    quotes: Annotated[tuple[str, ...], Field(max_length=20)]


def retell_themes(
    store: Store,
    attempt: Run,
    model: LanguageModel,
    items: Sequence[PromptInput],
    *,
    tenant_id: str,
    known: Mapping[bytes, str | None],
) -> dict[bytes, str | None]:
    """Return the model's wording by input hash for all items that are not `known` yet; None: the rules' stands.

    No connection is held while the model works. What came of it is counted in the run's report. Raises as
    `ask` does when the model cannot be used at all.
    """
    asked = [item for item in items if input_hash(item) not in known]
    attempt.report.model = model.key
    answers = ask(
        ModelCaller.of_run(attempt),
        model,
        load_prompt("compress_themes", ThemePattern, max_tokens=_MAX_TOKENS),
        asked,
        check=_objection,
    )
    return {
        input_hash(item): answer.reply.pattern if answer.reply else None
        for item, answer in zip(asked, answers, strict=True)
    }


def shown(subject_id: str, told: Told, episodes: Sequence[Episode], decisions: Sequence[Decision]) -> PromptInput:
    """What a model is shown of a theme; `episodes` and `decisions` in event order, of which it sees the latest."""
    telling = [one for one in decisions if one.tool_calls or one.outcomes][-_SHOWN:]
    latest = episodes[-_SHOWN:]
    content = {
        "theme": told.name,
        "computed": list(told.computed),
        "keep": list(told.claims),
        "episodes": [{"date": written_day(one.happened_at), "text": one.content[:_LETTERS]} for one in latest],
        "decisions": [
            {
                "date": written_day(one.said_at),
                "speaker": one.speaker or "",
                "calls": [{"name": str(call["name"]), "arguments": _values(call)} for call in one.tool_calls],
                "outcomes": {metric: _figure(value) for metric, (value, _) in sorted(one.outcomes.items())},
            }
            for one in telling
        ],
    }
    sources = [*(one.id for one in latest), *(one.turn_id for one in telling)]
    return PromptInput(subject_id=subject_id, content=content, source_ids=sources)


def _values(call: Mapping[str, Any]) -> dict[str, str]:
    """The plain arguments of a call, as text."""
    given = call.get("arguments") or {}
    plain = {name: value for name, value in given.items() if isinstance(value, (str, int, float))}
    return {name: str(value)[:_VALUE_LETTERS] for name, value in sorted(plain.items())}


def _figure(value: float) -> str:
    return str(int(value)) if value.is_integer() else str(value)


def _objection(item: PromptInput, reply: ThemePattern) -> InvalidReply | None:
    content = item.content
    if not any(is_quoted(quote, [one["text"] for one in content["episodes"]]) for quote in reply.quotes):
        return InvalidReply(reason="unquoted", hint="no quote stood word for word in the texts of the episodes")
    if lost := [claim for claim in content["keep"] if not is_quoted(claim, [reply.pattern])]:
        return InvalidReply(reason="unquantified", hint=f"`pattern` must hold, word for word: {'; '.join(lost)}")
    if invented := ungrounded(reply.pattern, list(_texts(content))):
        return InvalidReply(reason="ungrounded", hint=f"the item does not say {', '.join(invented[:10])}")
    return None


def _texts(content: Any) -> Iterator[str]:
    """All that was shown, keys too: metrics and arguments have names."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        for name, value in content.items():
            yield name.replace("_", " ")
            yield from _texts(value)
    else:
        for value in content:
            yield from _texts(value)
