"""Ends found by Reverie's own judge: earlier statements near a message that the message makes untrue.

It judges for tenants without a language model ([language_model](language_model.py)). Each pair of a statement and a
later message is judged by itself once both are there. So a history gives the same ends all at once and day by day, as
long as no message has more statements near it than the policy lets it be compared with. A late statement is compared
with the messages since then when its subject is rebuilt (`reverie rebuild --late`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby, islice
from operator import attrgetter
from typing import NamedTuple
from uuid import UUID

import numpy as np
from psycopg.rows import args_row

from reverie.consolidate.facts.endings import Doubt, JudgedEnd, Judgement
from reverie.consolidate.facts.kept import KeptJudge, ShownMessage
from reverie.consolidate.facts.read import Evidence
from reverie.consolidate.facts.rests import tells_alone
from reverie.inference import from_half_wire
from reverie.inference.batching import threads_of
from reverie.inference.judge import shared_judge
from reverie.inference.judge.nearness import EndNearness, nearness_of
from reverie.inference.reader import shared_reader
from reverie.language.cues.keeping import OWN_WORDS, REST
from reverie.language.parts import parts, without_parts
from reverie.language.text import sentences, strip_invisible
from reverie.model.ids import bound_after
from reverie.policy.extract import ReaderPolicy
from reverie.policy.recall import StructuredFactsPolicy
from reverie.store.queries import queries
from reverie.store.runs import Run
from reverie.store.small_models.answers import keep_answers, read_answers

#: Subjects whose statements are in memory at a time.
_SUBJECTS = 64
#: Numbers in a block of log-odds: 128 MB.
_BLOCK = 1 << 24
#: The chance from which something is more likely than not.
_LIKELY = 0.5
#: Digits to which a cosine is rounded: the last bits of a sum differ between processors and must not decide.
_DIGITS = 4


class SaidStatement(NamedTuple):
    """A memory that states something, with its vector as Postgres sends it; the fields are in the order of `read_said`.

    It may also be a message that states nothing: then its id is that of its turn, and `may_end` is false.
    """

    id: UUID
    subject_id: str
    turn_id: UUID
    happened_at: datetime
    content: str
    origin: str
    #: The memory that it was merged into; None: none.
    into_id: UUID | None
    #: Whether it may end: it is not an end, not past and not merged into another one.
    may_end: bool
    #: Whether it is new, and whether its message is not judged yet.
    is_new: bool
    is_unjudged: bool
    vector: bytes
    #: The vector of the whole message, or of the statement if that has none. Empty before the first new statement.
    message_vector: bytes
    #: The speaker's name; None: the turn has none.
    speaker: str | None = None
    #: Whether it is a standing rule, and whether it only tells how to reach somebody.
    is_rule: bool = False
    is_contact: bool = False

    @property
    def is_silent(self) -> bool:
        """Whether this is a message that states nothing."""
        return self.id == self.turn_id


class NearPair(NamedTuple):
    """A statement, and the most similar statement of a later message."""

    old: SaidStatement
    by: SaidStatement


def judge_near_pairs(attempt: Run, evidence: Sequence[Evidence]) -> Judgement:
    """Judge what the messages of these memories end, and whether later messages end them; counts `judged` messages."""
    work = attempt.work
    numbers = work.policy.structured_facts
    judge = shared_judge(threads_of(work.embedder))
    nearness = nearness_of(work.embedder.model)
    reader = shared_reader(threads_of(work.embedder))
    version = f"{judge.version}/{reader.version}"
    asked: dict[UUID, str] = {}
    ends: list[JudgedEnd] = []
    doubts: list[Doubt] = []
    for statements in _statements(attempt, evidence):
        asked |= {said.turn_id: said.subject_id for said in statements if said.is_unjudged}
        pairs = [
            pair
            for _, of_subject in groupby(statements, attrgetter("subject_id"))
            for pair in pairs_to_judge(list(of_subject), numbers, nearness)
        ]
        if pairs:
            shown = _shown(attempt, {pair.by.turn_id for pair in pairs})
            kept = KeptJudge(judge, reader, read_answers(work, "judge", version, shown))
            seen = [pair for pair in pairs if pair.by.turn_id in shown]
            found, doubted = _judged(kept, seen, shown, numbers)
            ends += _with_rests(kept, found, shown, work.policy.extract.reader)
            doubts += doubted
            keep_answers(work, "judge", version, kept.new)
        attempt.pulse()
    attempt.report.add("judged", len(asked))
    return Judgement(model=judge.model, ends=ends, doubts=doubts, asked=asked)


def _judged(
    judge: KeptJudge, pairs: Sequence[NearPair], shown: Mapping[UUID, ShownMessage], numbers: StructuredFactsPolicy
) -> tuple[list[JudgedEnd], list[Doubt]]:
    """Judge each statement as a whole, and the parts of those that may end in part; return ends and doubts.

    Of several sentences the judge finds the end of one less often than alone, so they are always judged in parts.
    """
    wholes = judge.chances([(pair.old.content, shown[pair.by.turn_id]) for pair in pairs])
    asked = [
        parts_of(pair.old) if whole >= numbers.parts_chance or _has_sentences(pair.old) else []
        for pair, whole in zip(pairs, wholes, strict=True)
    ]
    of_parts = iter(
        judge.chances(
            [(part, shown[pair.by.turn_id]) for pair, some in zip(pairs, asked, strict=True) for part in some]
        )
    )
    ends: list[JudgedEnd] = []
    doubts: list[Doubt] = []
    for pair, whole, some in zip(pairs, wholes, asked, strict=True):
        chances = list(islice(of_parts, len(some)))
        if (end := end_of(pair, whole, chances, least_chance(pair, numbers))) is not None:
            ends.append(end)
        elif (doubt := doubt_of(pair, max(whole, *chances, 0), numbers)) is not None:
            doubts.append(doubt)
    return ends, doubts


def _with_rests(
    judge: KeptJudge, ends: Sequence[JudgedEnd], shown: Mapping[UUID, ShownMessage], reading: ReaderPolicy
) -> Iterator[JudgedEnd]:
    """Yield the ends, each with the rest of its statement if that still holds and says something by itself.

    Parts may be clear only together ("5:30am, mon-fri"), so the rest is judged as one text. It also ends if it is more
    likely over than not.
    """
    rests = [(end.rest, shown[end.turn_id]) for end in ends if end.rest]
    of_rests = iter(zip(judge.chances(rests), judge.alone(rests), strict=True))
    for end in ends:
        chance, readings = next(of_rests) if end.rest else (1.0, [])
        yield end if chance < _LIKELY and tells_alone(readings, reading) else replace(end, rest=None)


def least_chance(pair: NearPair, numbers: StructuredFactsPolicy) -> float:
    """Return the chance from which a message ends a statement: higher if the message states nothing."""
    return numbers.silent_chance if pair.by.is_silent else numbers.ends_chance


def doubt_of(pair: NearPair, chance: float, numbers: StructuredFactsPolicy) -> Doubt | None:
    """Return the doubt that a message casts on a statement that it does not end; None: it casts none.

    A message about something else casts no doubt (docs/decisions/0143).
    """
    least = numbers.silent_doubt_chance if pair.by.is_silent else numbers.doubt_chance
    if not 0 < least <= chance:
        return None
    old, message = from_half_wire([pair.old.vector, pair.by.message_vector])
    is_near = round(float(old @ message), _DIGITS) >= numbers.doubt_similarity
    return Doubt(pair.old.id, pair.by.turn_id, round(chance, _DIGITS)) if is_near else None


def parts_of(said: SaidStatement) -> list[str]:
    """Return the parts of a statement in own words that can end one by one; none if there is only one."""
    found = parts(said.content) if said.origin in (OWN_WORDS, REST) else []
    return found if len(found) > 1 else []


def _has_sentences(said: SaidStatement) -> bool:
    return len(sentences(said.content)) > 1


def end_of(pair: NearPair, whole: float, of_parts: Sequence[float], least: float) -> JudgedEnd | None:
    """Return the end of a statement, or of some of its parts, by the chance of each; None: it still holds.

    If one part ends, so does every part that is more likely over than not.
    """
    if max(whole, *of_parts, 0) < least:
        return None
    likely = {place for place, chance in enumerate(of_parts) if chance >= _LIKELY}
    ended = likely if max(of_parts, default=0) >= least else set()
    is_in_part = 0 < len(ended) < len(of_parts)
    return JudgedEnd(
        subject_id=pair.old.subject_id,
        memory_id=pair.old.id,
        turn_id=pair.by.turn_id,
        by_id=pair.by.id,
        said_at=pair.by.happened_at,
        rest=without_parts(pair.old.content, ended) if is_in_part else None,
    )


def pairs_to_judge(
    statements: Sequence[SaidStatement], numbers: StructuredFactsPolicy, nearness: EndNearness
) -> Iterator[NearPair]:
    """Yield the new pairs of a subject: each message with the earlier statements that it most likely ends.

    These are the `near` likeliest by their vectors alone (`silent_near` if the message states nothing), each with a
    chance of at least `judge_chance`. A pair is new if its statement is new or its message is not judged yet. A message
    does not end what it repeats, nor what somebody else said: "I moved to Leeds" is about its speaker. A message that
    only tells how to reach somebody ends no standing rule; a new name may ("sign it Mama Zim's Kitchen").
    """
    olds = [said for said in statements if said.may_end]
    if not olds:
        return
    first_new = min((said.happened_at for said in olds if said.is_new), default=None)
    bys = [
        said for said in statements
        if said.is_unjudged or (first_new is not None and said.happened_at > first_new)
    ]  # fmt: skip
    of_olds = from_half_wire([said.vector for said in olds])
    least = math.log(numbers.judge_chance / (1 - numbers.judge_chance))
    at = np.array([said.happened_at.timestamp() for said in olds])
    speakers = np.array([_speaker(said) for said in olds])
    are_rules = np.array([said.is_rule for said in olds])
    in_order = sorted(bys, key=attrgetter("happened_at", "turn_id", "id"))
    messages = [list(of_turn) for _, of_turn in groupby(in_order, attrgetter("turn_id"))]
    for block in _blocks(messages, len(olds)):
        log_odds = nearness.log_odds(of_olds, from_half_wire([message[0].message_vector for message in block]))
        for message, likely in zip(block, log_odds, strict=True):
            likely[at >= message[0].happened_at.timestamp()] = -np.inf
            likely[speakers != _speaker(message[0])] = -np.inf
            if all(said.is_contact for said in message):  # "only email me" stays true when the address comes
                likely[are_rules] = -np.inf
            most = numbers.silent_near if message[0].is_silent else numbers.near
            order = np.argsort(-likely, kind="stable")[:most]
            for place in order[likely[order] >= least].tolist():
                old = olds[place]
                is_repeated = any(said.into_id == old.id for said in message)
                if not is_repeated and (old.is_new or message[0].is_unjudged):
                    yield NearPair(old, _nearest(message, old))


def _speaker(said: SaidStatement) -> str:
    """Return the speaker's name, as the timeline compares it: empty if it is the subject's own."""
    name = said.speaker or ""
    return "" if name.casefold() == said.subject_id.casefold() else name


def _nearest(message: Sequence[SaidStatement], old: SaidStatement) -> SaidStatement:
    """Return the statement of a message that is most similar to an earlier one."""
    if len(message) == 1:
        return message[0]
    vectors = from_half_wire([old.vector, *(said.vector for said in message)])
    return message[int(np.round(vectors[1:] @ vectors[0], _DIGITS).argmax())]


def _blocks(messages: Sequence[list[SaidStatement]], olds: int) -> Iterator[list[list[SaidStatement]]]:
    block: list[list[SaidStatement]] = []
    size = 0
    for message in messages:
        if block and (size + 1) * olds > _BLOCK:
            yield block
            block, size = [], 0
        block.append(message)
        size += 1
    if block:
        yield block


def _statements(attempt: Run, evidence: Sequence[Evidence]) -> Iterator[list[SaidStatement]]:
    """Yield the statements of these memories' subjects, some subjects at a time, in event order."""
    work, sql, numbers = attempt.work, queries("facts"), attempt.work.policy.structured_facts
    params = work.params() | {
        "evidence": [each.id for each in evidence],
        "embedding": work.embedder.model,
        "horizon": bound_after(work.as_of),
        "silent": numbers.silent_chance > 0 and numbers.silent_near > 0,
    }
    subjects = sorted({each.subject_id for each in evidence if each.relation is not None})
    for start in range(0, len(subjects), _SUBJECTS):
        some = params | {"some": subjects[start : start + _SUBJECTS]}
        with work.transaction() as conn, conn.cursor(row_factory=args_row(SaidStatement)) as cursor:
            statements = cursor.execute(sql["read_said"], some, binary=True).fetchall()
        if statements:
            yield statements


def _shown(attempt: Run, turn_ids: Collection[UUID]) -> dict[UUID, ShownMessage]:
    """Return the messages of turns, with what another speaker said before each; turns gone meanwhile are left out."""
    params = attempt.work.params() | {"turn_ids": list(turn_ids)}
    with attempt.work.transaction() as conn:
        rows = conn.execute(queries("facts")["read_ending_texts"], params).fetchall()
    return {
        turn_id: ShownMessage(turn_id, strip_invisible(text), strip_invisible(before or ""))
        for turn_id, text, before in rows
    }
