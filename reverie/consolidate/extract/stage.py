"""extract: turns and events become candidates, found by rules and, if one is set, by a language model.

Each turn and each event gets a row with the number of its candidates, or why there are none. The row of a turn also
says whether a model has read it. The candidates of the rules are written first and do not wait for a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.extract.decide import TurnDecisions, TurnVerdict, decide_turns, turns_frame
from reverie.consolidate.extract.events import EventExtraction, decide_events
from reverie.consolidate.extract.kept import KeptReader
from reverie.consolidate.extract.language_model import extract_by_model
from reverie.consolidate.extract.read import unread_events, unread_turns
from reverie.consolidate.extract.reading import read_messages
from reverie.consolidate.extract.write import stop_waiting, write_events, write_turns
from reverie.consolidate.isolate import apart
from reverie.inference.batching import threads_of
from reverie.inference.reader import ReaderHead, shared_reader
from reverie.interruption import check_interruption
from reverie.language.text import CountTokens
from reverie.store.failures import REASON
from reverie.store.locks import count_erasures, is_unerased
from reverie.store.runs import Report, Run, run
from reverie.store.small_models.answers import keep_answers, read_answers, write_answers
from reverie.store.small_models.reader_heads import head_in_force
from reverie.store.work import Work


def extract(work: Work) -> Report:
    """Read turns and events that no run has read, and write candidates.

    Counts `turns`, `events` if there are any, `candidates`, each kind and each discard, and what `extract_by_model`
    counts. The embedder measures chunks of long turns and documents. With a language model, turns that wait since an
    earlier run are read too; without one, they keep only the candidates of the rules. A dry run asks no model.

    Raises:
        UnansweredError: no request about a turn was answered. It is raised last: the candidates of the rules are
            written, and the turns wait.
    """
    model = None if work.dry_run else work.language_model
    with run(work, "extract") as attempt:
        for name in ("turns", "candidates"):
            attempt.report.add(name, 0)
        for extract_unread in (_extract_turns, _extract_events):
            while not extract_unread(attempt):
                attempt.forget_unrecorded()
        unanswered = extract_by_model(attempt, model) if model is not None else None
        with work.transaction() as conn:
            if work.language_model is None:
                stop_waiting(conn, attempt)
            attempt.record(conn)
        if unanswered is not None:
            raise unanswered
    return attempt.report


def extract_logged(
    conn: Connection[Any], attempt: Run, rows: Sequence[tuple[Any, ...]], *, count_tokens: CountTokens
) -> None:
    """Write the candidates of turns that were just logged (rows of `decide.TURNS`), in the caller's transaction.

    The turns are marked as waiting for a language model; the next run knows whether there is one.
    """
    work = attempt.work
    reader = _reader_of(work) if work.policy.extract.reader.read else None
    decisions = _decide(attempt, rows, count_tokens, reader, reader_head(conn, work), with_model=True)
    write_turns(conn, attempt, decisions)
    if reader is not None and reader.new:
        write_answers(conn, work.tenant_id, "reader", reader.version, reader.new)


def reader_head(conn: Connection[Any], work: Work) -> ReaderHead | None:
    """Return the reader's head learned from the tenant's language model; None: there is none, or the reader is off."""
    kept = head_in_force(conn, work.tenant_id) if work.policy.extract.reader.read else None
    return ReaderHead.of_numbers(kept.version, kept.reader, kept.head) if kept else None


def _extract_turns(attempt: Run) -> bool:
    """Extract unread turns; return False if something was erased meanwhile and they must be read again."""
    work = attempt.work
    with work.ledger_of_calls.transaction(work.tenant_id) as conn:  # a generation has no heads of its own
        head = reader_head(conn, work)
    with work.transaction() as conn:
        erasures = count_erasures(conn, work.tenant_id)
    for rows in unread_turns(work):
        turn_ids = [UUID(turn_id) for turn_id, *_ in rows]
        reader = _reader_of(work, turn_ids) if work.policy.extract.reader.read else None
        with_model = work.language_model is not None
        decisions = _decide(attempt, rows, work.embedder.count_tokens, reader, head, with_model=with_model)
        if reader is not None:
            keep_answers(work, "reader", reader.version, reader.new)
        with work.transaction() as conn:
            if not is_unerased(conn, work.tenant_id, erasures):
                return False
            write_turns(conn, attempt, decisions)
            attempt.record(conn)
        check_interruption()
        work.progress("extract", len(rows))
    return True


def _reader_of(work: Work, turn_ids: Sequence[UUID] = ()) -> KeptReader:
    """Return the reader with its stored answers for these turns."""
    reader, numbers = shared_reader(threads_of(work.embedder)), work.policy.extract.reader
    known = read_answers(work, "reader", reader.version, turn_ids) if turn_ids else {}
    return KeptReader(reader, known, chosen_by=f"{numbers.languages} {numbers.other_language}")


def _decide(
    attempt: Run,
    rows: Sequence[tuple[Any, ...]],
    count_tokens: CountTokens,
    reader: KeptReader | None,
    head: ReaderHead | None,
    *,
    with_model: bool,
) -> TurnDecisions:
    """Return the candidates of turns and a verdict on each; a turn on which the rules fail becomes a dead letter."""
    tenant_id, policy = attempt.work.tenant_id, attempt.work.policy

    def decide(some: Sequence[tuple[Any, ...]]) -> TurnDecisions:
        turns = turns_frame(some)
        read = read_messages(turns, policy, reader=reader, head=head)
        return decide_turns(turns, tenant_id, policy, count_tokens, read=read, with_model=with_model)

    decisions, failures = apart(rows, decide)
    for (turn_id, subject_id, *_), error in failures:
        attempt.bury(subject_id, turn_id, error)
        decisions.verdicts.append(
            TurnVerdict(turn_id=turn_id, subject_id=subject_id, candidates=0, left_out=0, reason=REASON, waits=False)
        )
    return decisions


def _extract_events(attempt: Run) -> bool:
    """Extract unread events; return the same as `_extract_turns`."""
    work = attempt.work
    with work.transaction() as conn:
        erasures = count_erasures(conn, work.tenant_id)
    for events in unread_events(work):
        extractions, failures = apart(
            events, lambda some: decide_events(some, work.tenant_id, work.policy, work.embedder.count_tokens)
        )
        for event, error in failures:
            attempt.bury(event.subject_id, event.id, error)
            extractions.append(EventExtraction(event=event, reason=REASON))
        with work.transaction() as conn:
            if not is_unerased(conn, work.tenant_id, erasures):
                return False
            write_events(conn, attempt, extractions)
            attempt.record(conn)
        check_interruption()
        attempt.pulse()
    return True
