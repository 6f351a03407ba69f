"""Ends that the judge of Reverie's own finds: of earlier statements that are near to a message, which it makes untrue.

Without a language model ([language_model](language_model.py)). A pair of a statement and a later message is judged by
itself, once both are there, so a history gives the same ends in one go, day by day and with a part imported late, as
long as no more statements are near to a message than the policy lets it be held against.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, groupby, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import numpy as np
from psycopg.rows import class_row

from reverie.consolidate.facts.endings import JudgedEnd, Judgement
from reverie.inference import from_half_wire
from reverie.inference.batching import threads_of
from reverie.inference.judge import EndPair, shared_judge
from reverie.language.cues.keeping import OWN_WORDS, REST
from reverie.language.parts import parts, without_parts
from reverie.language.text import strip_invisible
from reverie.policy.recall import StructuredFactsPolicy
from reverie.store.queries import queries
from reverie.store.runs import Run

if TYPE_CHECKING:
    from reverie.inference.judge.judge import TrainedJudge

#: Subjects whose statements are in memory at a time.
_SUBJECTS = 64
#: Numbers of a block of cosines: 64 MB.
_BLOCK = 1 << 24
#: Digits of a cosine that count: the last bits of a sum differ between processors and must not decide.
_DIGITS = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class SaidStatement:
    """A memory that states something, with its vector as Postgres sends it."""

    id: UUID
    subject_id: str
    turn_id: UUID
    happened_at: datetime
    content: str
    origin: str
    #: The memory that it was merged into; None: none.
    into_id: UUID | None
    #: Whether it may end: it is no end, is not past, and was not merged into another one.
    may_end: bool
    #: Whether it is new, and whether its message was not judged yet.
    is_new: bool
    is_unjudged: bool
    vector: bytes
    #: Of the whole message; None: it has none.
    message_vector: bytes | None


class NearPair(NamedTuple):
    """A statement, and the statement of a later message that is nearest to it."""

    old: SaidStatement
    by: SaidStatement


def judge_near_pairs(attempt: Run, evidence: Sequence[UUID]) -> Judgement:
    """Judge the messages of these memories, and these memories by later messages; counts `judged` messages."""
    work = attempt.work
    numbers = work.policy.structured_facts
    judge = shared_judge(threads_of(work.embedder))
    asked: dict[UUID, str] = {}
    ends: list[JudgedEnd] = []
    for statements in _statements(attempt, evidence):
        asked |= {said.turn_id: said.subject_id for said in statements if said.is_unjudged}
        pairs = [
            pair
            for _, of_subject in groupby(statements, attrgetter("subject_id"))
            for pair in pairs_to_judge(list(of_subject), numbers)
        ]
        texts = _texts(attempt, {pair.by.turn_id for pair in pairs})
        known = [pair for pair in pairs if pair.by.turn_id in texts]
        ends += _ends(judge, known, texts, numbers.ends_chance)
        attempt.pulse()
    attempt.report.add("judged", len(asked))
    return Judgement(model=judge.model, ends=ends, asked=asked)


def _ends(
    judge: TrainedJudge, pairs: Sequence[NearPair], texts: Mapping[UUID, tuple[str, str]], least: float
) -> Iterator[JudgedEnd]:
    asked = [[EndPair(question, *texts[pair.by.turn_id]) for question in questions(pair.old)] for pair in pairs]
    chances = iter(judge.chances(list(chain.from_iterable(asked))))
    for pair, of_pair in zip(pairs, asked, strict=True):
        end = end_of(pair, list(islice(chances, len(of_pair))), least)
        if end is not None:
            yield end


def questions(said: SaidStatement) -> list[str]:
    """Return what the judge is asked of a statement: all of it, and each part of one in several parts."""
    found = parts(said.content) if said.origin in (OWN_WORDS, REST) else []
    return [said.content, *(found if len(found) > 1 else ())]


def end_of(pair: NearPair, chances: Sequence[float], least: float) -> JudgedEnd | None:
    """Return the end of a statement, or of some of its parts, by the chances of its `questions`; None: it goes on."""
    whole, *of_parts = chances
    ended = {place for place, chance in enumerate(of_parts) if chance >= least}
    if not ended and whole < least:
        return None
    is_in_part = 0 < len(ended) < len(of_parts)
    return JudgedEnd(
        subject_id=pair.old.subject_id,
        memory_id=pair.old.id,
        turn_id=pair.by.turn_id,
        by_id=pair.by.id,
        said_at=pair.by.happened_at,
        rest=without_parts(pair.old.content, ended) if is_in_part else None,
    )


def pairs_to_judge(statements: Sequence[SaidStatement], numbers: StructuredFactsPolicy) -> Iterator[NearPair]:
    """Yield of a subject the pairs that are new: of each message the nearest of the statements from before.

    Of the `near` earlier statements with the highest cosine to the message or to a statement of it, `judge_similarity`
    at least, those that are new or whose message was not judged; a message does not end what it says again.
    """
    olds = [said for said in statements if said.may_end]
    if not olds:
        return
    first_new = min((said.happened_at for said in olds if said.is_new), default=None)
    bys = [
        said for said in statements
        if said.is_unjudged or (first_new is not None and said.happened_at > first_new)
    ]  # fmt: skip
    matrix = from_half_wire([said.vector for said in olds])
    at = np.array([said.happened_at.timestamp() for said in olds])
    in_order = sorted(bys, key=attrgetter("happened_at", "turn_id", "id"))
    messages = [list(of_turn) for _, of_turn in groupby(in_order, attrgetter("turn_id"))]
    for block in _blocks(messages, len(olds)):
        cosines = np.round(
            from_half_wire([vector for message in block for vector in _told(message)]) @ matrix.T, _DIGITS
        )
        row = 0
        for message in block:
            nearest = cosines[row : row + len(message)].argmax(0)
            near = cosines[row : (row := row + len(_told(message)))].max(0)
            near[at >= message[0].happened_at.timestamp()] = -1
            order = np.argsort(-near, kind="stable")[: numbers.near]
            for place in order[near[order] >= numbers.judge_similarity].tolist():
                old = olds[place]
                is_repeated = any(said.into_id == old.id for said in message)
                if not is_repeated and (old.is_new or message[0].is_unjudged):
                    yield NearPair(old, message[nearest[place]])


def _told(message: Sequence[SaidStatement]) -> list[bytes]:
    """The vectors of the statements of a message, and its own."""
    own = message[0].message_vector
    return [*(said.vector for said in message), *([] if own is None else [own])]


def _blocks(messages: Sequence[list[SaidStatement]], olds: int) -> Iterator[list[list[SaidStatement]]]:
    block: list[list[SaidStatement]] = []
    size = 0
    for message in messages:
        if block and (size + len(_told(message))) * olds > _BLOCK:
            yield block
            block, size = [], 0
        block.append(message)
        size += len(_told(message))
    if block:
        yield block


def _statements(attempt: Run, evidence: Sequence[UUID]) -> Iterator[list[SaidStatement]]:
    """Yield the statements of the subjects of these memories, some subjects at a time, in event order."""
    work, sql = attempt.work, queries("facts")
    params = work.params() | {"evidence": list(evidence), "embedding": work.embedder.model}
    with work.transaction() as conn:
        subjects = [row[0] for row in conn.execute(sql["subjects_to_judge"], params)]
    for start in range(0, len(subjects), _SUBJECTS):
        some = params | {"some": subjects[start : start + _SUBJECTS]}
        with work.transaction() as conn, conn.cursor(row_factory=class_row(SaidStatement)) as cursor:
            statements = cursor.execute(sql["read_said"], some, binary=True).fetchall()
        if statements:
            yield statements


def _texts(attempt: Run, turn_ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    """Return by turn its text, and what another speaker said before it; without those that are gone meanwhile."""
    work = attempt.work
    with work.transaction() as conn:
        rows: Any = conn.execute(queries("facts")["read_ending_texts"], work.params() | {"turn_ids": list(turn_ids)})
        return {turn_id: (strip_invisible(text), strip_invisible(before or "")) for turn_id, text, before in rows}
