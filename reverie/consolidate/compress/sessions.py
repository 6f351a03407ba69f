"""Summaries of sessions, in their own sentences or in a language model's words.

An old session gets one summary. The oldest turns of a long running session get summaries by range, and its last turns
stay as they are. Once the session is old, its whole summary replaces those of its ranges. Lineage fixes the turns that
a range covers; turns that arrive late are covered by a later range.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.compress.decide import Compression, Untold, summary_of, untold_of
from reverie.consolidate.compress.read import (
    long_sessions,
    old_sessions,
    read_session_memories,
    unsummarised_ranges,
    whole_sessions,
)
from reverie.consolidate.compress.worded_sessions import ModelSummaries, ask_summaries
from reverie.consolidate.compress.write import write_compressions, write_untold
from reverie.inference.completions import LanguageModel
from reverie.language.cues.summarise import spoken_turns, summarise_all
from reverie.language.text import written_day
from reverie.model.session_part import SessionKey, SessionPart
from reverie.store.locks import lock_subjects
from reverie.store.runs import Run
from reverie.store.work import Work

#: Sessions processed in one transaction.
_SESSIONS = 1_000

#: Reads the parts of sessions that get a summary.
ReadParts = Callable[[Connection[Any], Work, Sequence[SessionKey]], Iterator[SessionPart]]


def compress_old_sessions(attempt: Run, taken: Collection[UUID], model: LanguageModel | None) -> None:
    """Summarise the oldest sessions of subjects with too many; episodes `taken` by a pattern stay with the pattern."""
    _summarise(attempt, old_sessions(attempt.work), whole_sessions, taken, model)


def compress_long_sessions(attempt: Run, model: LanguageModel | None) -> None:
    """Summarise the oldest turns of sessions with too many."""
    _summarise(attempt, long_sessions(attempt.work), unsummarised_ranges, (), model)


def _summarise(
    attempt: Run,
    sessions: Sequence[SessionKey],
    read_parts: ReadParts,
    taken: Collection[UUID],
    model: LanguageModel | None,
) -> None:
    work = attempt.work
    for start in range(0, len(sessions), _SESSIONS):
        portion, worded = sessions[start : start + _SESSIONS], None
        if model is not None:
            with work.transaction() as conn:
                parts = list(read_parts(conn, work, portion))
            worded = ask_summaries(attempt, model, parts)
            portion = [session for session in portion if session not in worded.waiting]
        with work.transaction() as conn:
            lock_subjects(conn, work.tenant_id, [subject_id for subject_id, _ in portion])
            compressions, untold = _summaries(conn, work, portion, read_parts, taken, worded)
            if worded is not None:
                attempt.report.add("retold", sum(each.memory.model is not None for each in compressions))
            write_compressions(conn, attempt, compressions)
            write_untold(conn, attempt, untold)
            attempt.record(conn)


def _summaries(
    conn: Connection[Any],
    work: Work,
    sessions: Sequence[SessionKey],
    read_parts: ReadParts,
    taken: Collection[UUID],
    worded: ModelSummaries | None,
) -> tuple[list[Compression], list[Untold]]:
    policy = work.policy
    memories = read_session_memories(conn, work, sessions)
    parts = list(read_parts(conn, work, sessions))
    numbers = policy.compress
    texts = summarise_all(
        [spoken_turns(part.turns) for part in parts],
        number=numbers.summary_sentences,
        weights=numbers.summary,
        salience=policy.salience,
    )
    compressions, untold = [], []
    for part, text in zip(parts, texts, strict=True):
        content, model = _wording(part, text, worded)
        if content is None:
            untold.append(untold_of(part, tenant_id=work.tenant_id, as_of=work.as_of))
            continue
        of_session = [
            replace(memory, replaceable=memory.replaceable and memory.id not in taken)
            for memory in memories.get(part.session, ())
        ]
        compressions.append(
            summary_of(part, content, model, of_session, policy, tenant_id=work.tenant_id, as_of=work.as_of)
        )
    return compressions, untold


def _wording(part: SessionPart, text: str | None, worded: ModelSummaries | None) -> tuple[str | None, str | None]:
    """Return the content of a summary and the model that wrote it, or the rules' `text`, if any, without a model."""
    if worded is None or not (summary := worded.text_of_part(part)):
        return text, None
    return f"{written_day(part.turns[0].said_at)}. {summary}", worded.model
