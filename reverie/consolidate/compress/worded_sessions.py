"""Summaries of sessions in a language model's words, accepted as far as the turns support them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from pydantic import Field

from reverie.inference.completions import LanguageModel
from reverie.inference.prompts import load_prompt
from reverie.inference.replies import Reply
from reverie.language.grounding import is_quoted, ungrounded
from reverie.language.text import author, strip_invisible, written_day
from reverie.llm.answers import NO_REPLY, InvalidReply
from reverie.llm.asking import ModelCaller, ask
from reverie.llm.inputs import PromptInput
from reverie.model.session_part import SessionKey, SessionPart
from reverie.store.runs import Run

#: Longest session that a model is shown, in characters; the rules summarise longer ones.
LONGEST = 48_000
#: Tokens that a reply may have, for some sentences and their quotes.
_MAX_TOKENS = 600


class SessionSummary(Reply):
    """What a model says of a session."""

    # the docstring is part of the prompt, by its schema: if it changes, no kept reply can be used

    summary: Annotated[str, Field(min_length=1, max_length=2000)]
    #: Passages of the turns, word for word.
    quotes: Annotated[tuple[str, ...], Field(max_length=20)]


@dataclass(frozen=True, slots=True)
class ModelSummaries:
    """A model's summaries of parts of sessions."""

    model: str
    #: The turns that the model was shown, and its summary, by key of the part.
    texts: Mapping[tuple[str, str, int], tuple[frozenset[UUID], str]]
    #: Sessions with a part for which there was no reply; they wait for the retry.
    waiting: frozenset[SessionKey]

    def text_of_part(self, part: SessionPart) -> str | None:
        """Return the summary of a part; None if there is none or if turns were added since."""
        shown, text = self.texts.get(part.key, (frozenset(), ""))
        return text if text and shown == {turn.id for turn in part.turns} else None


def ask_summaries(attempt: Run, model: LanguageModel, parts: Sequence[SessionPart]) -> ModelSummaries:
    """Ask for a summary of each part; the rules summarise parts whose reply is not accepted or not paid for.

    No connection is held while the model works. The run's report counts the answers. Raises the errors of `ask` if the
    model cannot be used at all.
    """
    numbers = attempt.work.policy.compress
    prompt = load_prompt(
        numbers.summary_prompt, SessionSummary, max_tokens=_MAX_TOKENS, sentences=numbers.summary_sentences
    )
    asked: list[tuple[SessionPart, PromptInput]] = []
    for part in parts:
        shown = _part_input(part)
        length = sum(len(turn["text"]) for turn in shown.content["turns"])
        if length > LONGEST:
            attempt.report.add("failed_too_long")
        elif length:
            asked.append((part, shown))
    attempt.report.model = model.key
    answers = ask(ModelCaller.of_run(attempt), model, prompt, [shown for _, shown in asked], check=_check)
    answered = [(part, shown, answer) for (part, shown), answer in zip(asked, answers, strict=True)]
    return ModelSummaries(
        model=model.key,
        texts={
            part.key: (frozenset(shown.source_ids), answer.reply.summary)
            for part, shown, answer in answered
            if answer.reply is not None
        },
        waiting=frozenset(part.session for part, _, answer in answered if answer.reason in NO_REPLY),
    )


def _part_input(part: SessionPart) -> PromptInput:
    turns = [
        {"speaker": author(turn.speaker, turn.role) or "User", "text": strip_invisible(turn.text)}
        for turn in part.turns
        if turn.text and turn.role in ("user", "assistant")
    ]
    content = {"date": written_day(part.turns[0].said_at), "turns": turns}
    return PromptInput(subject_id=part.subject_id, content=content, source_ids=[turn.id for turn in part.turns])


def _check(shown: PromptInput, reply: SessionSummary) -> InvalidReply | None:
    turns = shown.content["turns"]
    texts = [turn["text"] for turn in turns]
    if not any(is_quoted(quote, texts) for quote in reply.quotes):
        return InvalidReply(reason="unquoted", hint="no quote stood word for word in the turns")
    if invented := ungrounded(reply.summary, [*texts, *(turn["speaker"] for turn in turns), shown.content["date"]]):
        return InvalidReply(reason="ungrounded", hint=f"the turns do not say {', '.join(invented[:10])}")
    return None
