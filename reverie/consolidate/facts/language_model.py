"""Ends judged by a language model: those of the earlier statements nearest to a message that the message ends.

People end things in passing and in other words, which no rule over statements of one relation sees: "Danny's jacked it
in" ends who works here, and his Mondays. The model is shown each message that left a statement, with the nearest
earlier statements of its subject. It names those that no longer hold, and quotes the message for each. Asking comes
first, without a connection. The accepted ends are written in the transaction that decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from reverie.consolidate.facts.endings import JudgedEnd, Judgement
from reverie.inference.completions import LanguageModel
from reverie.inference.prompts import Prompt, load_prompt
from reverie.inference.replies import Reply
from reverie.language.grounding import is_left_of, is_quoted
from reverie.language.text import strip_invisible, written_day
from reverie.llm.answers import NO_REPLY, UNASKED
from reverie.llm.asking import ModelCaller, ask
from reverie.llm.inputs import PromptInput
from reverie.store.queries import queries
from reverie.store.runs import Run

#: Messages that are read and asked about at a time.
_PORTION = 500
#: Tokens of a reply, and of one end in it.
_REPLY_TOKENS, _END_TOKENS = 40, 120
#: Reasons for which a message waits for the next run.
_WAITING = NO_REPLY | {"credit", "unpriced", UNASKED}


# The names, fields and docstrings of the two replies are part of the prompt.
class Ended(Reply):
    """One statement that a message ends."""

    #: Number of the statement.
    known: int
    #: Words of the message, verbatim.
    quote: str
    #: The rest of the statement if only a part of it ends.
    rest: str | None = None


class Endings(Reply):
    """What a message ends."""

    over: tuple[Ended, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class EndingMessage:
    """A message that left a statement, with the nearest earlier statements."""

    turn_id: UUID
    subject_id: str
    author: str
    said_at: datetime
    text: str
    #: The message before it in its session; None: there is none.
    before_id: UUID | None
    before_author: str | None
    before_text: str | None
    #: Earlier statements in the order in which they were said: memories, texts and times, and for each the nearest
    #: memory of this message.
    known_ids: Sequence[UUID]
    known_texts: Sequence[str]
    known_at: Sequence[datetime]
    by_ids: Sequence[UUID]

    @property
    def shown(self) -> PromptInput:
        """The input of the model."""
        before = [] if self.before_text is None else [{"speaker": self.before_author, "text": self.before_text}]
        known = [
            {"number": number, "date": written_day(at), "text": text}
            for number, (at, text) in enumerate(zip(self.known_at, self.known_texts, strict=True), 1)
        ]
        content: dict[str, Any] = {
            "speaker": self.author,
            "date": written_day(self.said_at),
            "text": self.text,
            "before": before,
            "known": known,
        }
        sources = [self.turn_id, *([] if self.before_id is None else [self.before_id]), *self.known_ids]
        return PromptInput(subject_id=self.subject_id, content=content, source_ids=sources)


def judge_ends(attempt: Run, model: LanguageModel, evidence: Sequence[UUID]) -> Judgement:
    """Ask about the messages of these memories, and about those that wait.

    Counts what `ask` counts, `judged` messages, and discards: `no_such_statement`, `unquoted`, and `not_left`: a rest
    that is not the statement with words struck out. If the provider does not answer, or without credit, a message
    waits; for the remaining ones only stored replies are used.
    """
    attempt.report.model = model.key
    numbers = attempt.work.policy.structured_facts
    prompt = ends_prompt(numbers.near)
    ends: list[JudgedEnd] = []
    asked: dict[UUID, str] = {}
    waiting_ids: list[UUID] = []
    sending = True
    turns = _turns(attempt, evidence)
    for messages in _messages(attempt, turns):
        inputs = [message.shown for message in messages]
        caller = ModelCaller.of_run(attempt)
        answers = ask(caller, model, prompt, inputs, sending=sending, require_some=False)
        for message, answer in zip(messages, answers, strict=True):
            asked[message.turn_id] = message.subject_id
            if answer.reply is not None:
                ends += accepted_ends(message, answer.reply, attempt)
            elif answer.reason in _WAITING:
                waiting_ids.append(message.turn_id)
        reasons = {answer.reason for answer in answers if not answer.kept}
        sending &= not reasons or not reasons <= _WAITING
        attempt.pulse()
    attempt.report.add("judged", len(asked) - len(waiting_ids))
    settled_ids = [turn_id for turn_id in turns if turn_id not in asked]
    return Judgement(model=model.key, ends=ends, asked=asked, waiting_ids=waiting_ids, settled_ids=settled_ids)


def ends_prompt(near: int) -> Prompt[Endings]:
    """Return the prompt for a message and at most `near` earlier statements."""
    return load_prompt("ends", Endings, max_tokens=_REPLY_TOKENS + _END_TOKENS * near)


def accepted_ends(message: EndingMessage, reply: Endings, attempt: Run) -> Iterator[JudgedEnd]:
    """Yield the ends that name a shown statement and quote the message; counts the others."""
    seen: set[int] = set()
    for ended in reply.over:
        if not 1 <= ended.known <= len(message.known_ids):
            attempt.report.discard("no_such_statement")
        elif not is_quoted(ended.quote, [message.text]):
            attempt.report.discard("unquoted")
        elif ended.known not in seen:
            seen.add(ended.known)
            place = ended.known - 1
            yield JudgedEnd(
                subject_id=message.subject_id,
                memory_id=message.known_ids[place],
                turn_id=message.turn_id,
                by_id=message.by_ids[place],
                said_at=message.said_at,
                rest=_left(ended.rest, message.known_texts[place], attempt),
            )


def _left(rest: str | None, text: str, attempt: Run) -> str | None:
    if not rest or not rest.strip():
        return None
    if not is_left_of(rest, text):
        attempt.report.discard("not_left")
        return None
    return " ".join(strip_invisible(rest).split())


def _turns(attempt: Run, evidence: Sequence[UUID]) -> list[UUID]:
    """Return the turns of these memories, and those that wait."""
    params = attempt.work.params() | {"evidence": list(evidence)}
    with attempt.work.transaction() as conn:
        return [row[0] for row in conn.execute(queries("facts")["turns_to_judge"], params)]


def _messages(attempt: Run, turns: Sequence[UUID]) -> Iterator[list[EndingMessage]]:
    """Yield the messages to ask about, in portions; a turn without a near statement is left out."""
    work, sql = attempt.work, queries("facts")
    numbers, extract = work.policy.structured_facts, work.policy.extract.model
    shown = {
        "near": numbers.near,
        "similarity": numbers.near_similarity,
        "embedding": work.embedder.model,
        "characters": extract.turn_characters,
        "before_characters": extract.context_characters,
    }
    for start in range(0, len(turns), _PORTION):
        params = work.params() | shown | {"turn_ids": list(turns[start : start + _PORTION])}
        with work.transaction() as conn, conn.cursor(row_factory=class_row(EndingMessage)) as cursor:
            messages = cursor.execute(sql["read_ending_messages"], params).fetchall()
        if messages:
            yield messages
