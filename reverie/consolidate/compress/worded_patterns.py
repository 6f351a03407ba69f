"""Patterns in a language model's words: rules decide the themes and numbers, and the model words them.

A text is accepted if it contains the computed claims word for word, quotes an episode, and has no name or number that
was not shown. Otherwise, or if there is no reply, the rules' wording stays: it says the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from reverie.consolidate.compress.themes import ThemeEvidence, ThemeTurn
from reverie.consolidate.compress.wording import PatternText
from reverie.inference.completions import LanguageModel
from reverie.inference.prompts import load_prompt
from reverie.inference.replies import Reply
from reverie.language.grounding import is_quoted, ungrounded
from reverie.language.text import written_day
from reverie.llm.answers import InvalidReply
from reverie.llm.asking import ModelCaller, ask
from reverie.llm.inputs import PromptInput, input_hash
from reverie.store.runs import Run

#: Latest episodes, and latest turns, that a model is shown.
_SHOWN = 40
#: Characters that a model is shown of an episode, and of a value in a tool call.
_EPISODE_CHARACTERS, _VALUE_CHARACTERS = 400, 120
#: Tokens that a reply may have, for two sentences and their quotes.
_MAX_TOKENS = 400


class ThemePattern(Reply):
    """What a model says of a theme."""

    # the docstring is part of the prompt, by its schema: if it changes, no kept reply can be used

    pattern: Annotated[str, Field(min_length=1, max_length=1000)]
    #: Passages of the episodes, word for word.
    quotes: Annotated[tuple[str, ...], Field(max_length=20)]


def ask_patterns(
    attempt: Run, model: LanguageModel, inputs: Sequence[PromptInput], *, known: Mapping[bytes, str | None]
) -> dict[bytes, str | None]:
    """Return the model's wording by input hash for all inputs that are not `known`; None: the rules' wording stays.

    No connection is held while the model works. The run's report counts the answers. Raises the errors of `ask` if the
    model cannot be used at all.
    """
    asked = [each for each in inputs if input_hash(each) not in known]
    attempt.report.model = model.key
    prompt = load_prompt("compress_themes", ThemePattern, max_tokens=_MAX_TOKENS)
    answers = ask(ModelCaller.of_run(attempt), model, prompt, asked, check=_check)
    return {
        input_hash(each): answer.reply.pattern if answer.reply else None
        for each, answer in zip(asked, answers, strict=True)
    }


def pattern_input(subject_id: str, text: PatternText, evidence: ThemeEvidence) -> PromptInput:
    """Return a model's input about a theme, with its latest episodes and turns."""
    turns = [turn for turn in evidence.turns if turn.tool_calls or turn.outcomes][-_SHOWN:]
    episodes = evidence.episodes[-_SHOWN:]
    content = {
        "theme": text.name,
        "computed": list(text.computed),
        "keep": list(text.claims),
        "episodes": [
            {"date": written_day(episode.happened_at), "text": episode.content[:_EPISODE_CHARACTERS]}
            for episode in episodes
        ],
        "decisions": [_decision(turn) for turn in turns],
    }
    sources = [*(episode.id for episode in episodes), *(turn.id for turn in turns)]
    return PromptInput(subject_id=subject_id, content=content, source_ids=sources)


def _decision(turn: ThemeTurn) -> dict[str, Any]:
    return {
        "date": written_day(turn.said_at),
        "speaker": turn.speaker or "",
        "calls": [{"name": str(call["name"]), "arguments": _arguments(call)} for call in turn.tool_calls],
        "outcomes": {metric: _figure(value) for metric, (value, _) in sorted(turn.outcomes.items())},
    }


def _arguments(call: Mapping[str, Any]) -> dict[str, str]:
    """Return the plain arguments of a call, as text."""
    arguments = call.get("arguments") or {}
    plain = {name: value for name, value in arguments.items() if isinstance(value, (str, int, float))}
    return {name: str(value)[:_VALUE_CHARACTERS] for name, value in sorted(plain.items())}


def _figure(value: float) -> str:
    return str(int(value)) if value.is_integer() else str(value)


def _check(shown: PromptInput, reply: ThemePattern) -> InvalidReply | None:
    content = shown.content
    episodes = [episode["text"] for episode in content["episodes"]]
    if not any(is_quoted(quote, episodes) for quote in reply.quotes):
        return InvalidReply(reason="unquoted", hint="no quote stood word for word in the texts of the episodes")
    if missing := [claim for claim in content["keep"] if not is_quoted(claim, [reply.pattern])]:
        return InvalidReply(reason="unquantified", hint=f"`pattern` must hold, word for word: {'; '.join(missing)}")
    if invented := ungrounded(reply.pattern, list(_texts(content))):
        return InvalidReply(reason="ungrounded", hint=f"the item does not say {', '.join(invented[:10])}")
    return None


def _texts(content: Any) -> Iterator[str]:
    """Yield all texts that were shown, including keys, which name metrics and arguments."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        for name, value in content.items():
            yield name.replace("_", " ")
            yield from _texts(value)
    else:
        for value in content:
            yield from _texts(value)
