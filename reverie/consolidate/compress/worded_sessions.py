"""Sessions in the words of a language model, as far as these stand on what was said (spec B6, C3; Logic 3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
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
from reverie.store.database import Store
from reverie.store.runs import Run

#: Characters of a session that a model is shown; a longer one is summed up by the rules.
LONGEST = 48_000
#: Tokens of a reply: some sentences and their quotes.
_MAX_TOKENS = 600


class SessionSummary(Reply):
    """What a model says of a session."""

    summary: Annotated[str, Field(min_length=1, max_length=2000)]
    #: Passages of the turns, word for word.
    quotes: Annotated[tuple[str, ...], Field(max_length=20)]


@dataclass(frozen=True, slots=True)
class Passage:
    """Turns of a session that are told together: all of them, or a range."""

    subject_id: str
    session_id: str
    #: In their order: (id, said_at, role, speaker, text).
    turns: Sequence[tuple[Any, ...]]
    #: Place of the first one in its session, from 1.
    start: int = 1
    whole: bool = True

    @property
    def end(self) -> int:
        """Place of the last one."""
        return self.start + len(self.turns) - 1

    @property
    def session(self) -> tuple[str, str]:
        """Subject and session."""
        return self.subject_id, self.session_id

    @property
    def key(self) -> tuple[str, str, int]:
        """Tells the passages of a run apart."""
        return *self.session, self.start


@dataclass(frozen=True, slots=True)
class Retold:
    """Summaries by passage."""

    #: Whose words they are.
    model: str
    #: The turns that the model was shown, and its summary.
    texts: Mapping[tuple[str, str, int], tuple[frozenset[UUID], str]]
    #: Sessions (subject, session) about which some reply could not be had; they wait for the retry.
    waiting: frozenset[tuple[str, str]]


def retell(
    store: Store,
    attempt: Run,
    model: LanguageModel,
    passages: Sequence[Passage],
    *,
    tenant_id: str,
    sentences: int,
) -> Retold:
    """Ask for summaries of at most so many sentences; what is not believed, or not paid for, is left to the rules.

    No connection is held while the model works. What came of it is counted in the run's report. Raises as
    `ask` does when the model cannot be used at all.
    """
    prompt = load_prompt("compress", SessionSummary, max_tokens=_MAX_TOKENS, sentences=sentences)
    asked: list[tuple[Passage, PromptInput]] = []
    for passage in passages:
        item = _item(passage)
        length = sum(len(turn["text"]) for turn in item.content["turns"])
        if length > LONGEST:
            attempt.report.add("failed_too_long")
        elif length:
            asked.append((passage, item))
    attempt.report.model = model.key
    answers = ask(
        ModelCaller.of_run(attempt),
        model,
        prompt,
        [item for _, item in asked],
        check=_objection,
    )
    told = list(zip(asked, answers, strict=True))
    return Retold(
        model=model.key,
        texts={
            passage.key: (frozenset(item.source_ids), answer.reply.summary)
            for (passage, item), answer in told
            if answer.reply is not None
        },
        waiting=frozenset(passage.session for (passage, _), answer in told if answer.reason in NO_REPLY),
    )


def _item(passage: Passage) -> PromptInput:
    turns = passage.turns
    said = [
        {"speaker": author(speaker, role) or "User", "text": strip_invisible(text)}
        for _, _, role, speaker, text in turns
        if text and role in ("user", "assistant")
    ]
    content = {"date": written_day(turns[0][1]), "turns": said}
    return PromptInput(subject_id=passage.subject_id, content=content, source_ids=[row[0] for row in turns])


def _objection(item: PromptInput, reply: SessionSummary) -> InvalidReply | None:
    texts = [turn["text"] for turn in item.content["turns"]]
    if not any(is_quoted(quote, texts) for quote in reply.quotes):
        return InvalidReply(reason="unquoted", hint="no quote stood word for word in the turns")
    shown = [*texts, *(turn["speaker"] for turn in item.content["turns"]), item.content["date"]]
    if invented := ungrounded(reply.summary, shown):
        return InvalidReply(reason="ungrounded", hint=f"the turns do not say {', '.join(invented[:10])}")
    return None
