"""signal: moods of all messages, figures of each subject's days, life events, and what follows from them.

It processes the days on which turns were read since its last run, and those of life events whose retention is over.
Everything but the moods is made again from the figures of these subjects, so a history that is imported at once gives
the same as a live one.
"""

from __future__ import annotations

from collections.abc import Sequence

from reverie.consolidate.isolate import apart
from reverie.consolidate.signal.decide import follow_history
from reverie.consolidate.signal.events import read_said, settled_events, tell_events, write_life_events
from reverie.consolidate.signal.history import SubjectDays, UntoldMessage
from reverie.consolidate.signal.moods import MoodVector, gives_instruction, may_be_crisis, needs_vectors, tell_all
from reverie.consolidate.signal.numbers import measure_days
from reverie.consolidate.signal.read import open_days, read_histories, read_messages_of, read_versions
from reverie.consolidate.signal.talk import write_talk
from reverie.consolidate.signal.write import write_figures, write_followed, write_moods
from reverie.inference import from_half_wire, to_half_wire
from reverie.interruption import check_interruption
from reverie.store.failures import failed_items
from reverie.store.locks import add_subjects, count_erasures, is_unerased, lock_subjects
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run
from reverie.store.work import Work


def signal(work: Work) -> Report:
    """Find moods and make figures for the unprocessed days; counts `moods`, `days`, `periods`, `numbers`, `topics`,
    `memories`, `triggers` and `life_events`.

    Moods use the stored vectors. A vector may cover more or less than a message's words: the speaker's name too, or
    only a part. Such messages are embedded again, without a connection, if `[signals] embed_again` is set or the vector
    is near to signs of a crisis (`[crisis] embed_again_probability`). A model that costs money is not asked.
    """
    with run(work, "signal") as attempt:
        for name in ("moods", "days", "periods", "numbers", "topics", "memories", "triggers", "life_events"):
            attempt.report.add(name, 0)
        for days in open_days(work):
            while not _work_in(attempt, days):
                attempt.forget_unrecorded()
            check_interruption()
            work.progress("signal", len(days.days))
        if not attempt.recorded:
            with work.transaction() as conn:
                attempt.record(conn)
    return attempt.report


def _work_in(attempt: Run, days: SubjectDays) -> bool:
    """Process some days; return False if something was erased since they were read and they must be read again."""
    work = attempt.work
    with work.transaction() as conn:
        erasures = count_erasures(conn, work.tenant_id)
        # first: turns that are noted between these statements make the day stay for the next run
        versions = read_versions(conn, work, days)
        messages, before = read_messages_of(conn, work, days, work.embedder.model)
        said, zones = read_said(conn, work, days)
    told = tell_all(
        messages,
        _vectors(work, messages),
        before,
        policy=work.policy,
        embedding_model=work.embedder.model,
        instructs=lambda message: gives_instruction(message, work.tenant_id, work.policy, work.embedder.count_tokens),
    )
    told_events = tell_events(said, zones, work.policy)
    with work.transaction() as conn:
        if not is_unerased(conn, work.tenant_id, erasures):
            return False
        names = days.names()
        add_subjects(conn, work.tenant_id, names)
        lock_subjects(conn, work.tenant_id, names)
        conn.execute(queries("signal")["take_days"], attempt.params() | days.params() | {"versions": versions})
        write_talk(conn, attempt, days, told)
        write_moods(conn, attempt, told)
        write_figures(conn, attempt, days)
        write_life_events(conn, attempt, told_events)
        measure_days(conn, attempt, days)
        histories = read_histories(conn, work, days, settled_events(conn, attempt, names))
        write_followed(conn, attempt, [follow_history(history, work.tenant_id, work.policy) for history in histories])
        attempt.record(conn)
    return True


def _vectors(work: Work, messages: Sequence[UntoldMessage]) -> list[MoodVector | None]:
    """Return the vectors of messages, rounded like stored ones; None: a message has none."""
    found: list[MoodVector | None] = [None] * len(messages)
    if not needs_vectors(work.policy, work.embedder.model):
        return found
    stored = [place for place, message in enumerate(messages) if message.vector is not None]
    for place, vector in zip(stored, from_half_wire([messages[p].vector or b"" for p in stored]), strict=True):
        found[place] = vector
    missing = [
        place
        for place, (message, vector) in enumerate(zip(messages, found, strict=True))
        if message.told is None
        and (vector is None or (not message.of_words and may_be_crisis(vector, work.policy, work.embedder.model)))
    ]
    if missing and not work.embedder.price_per_token:
        for place, vector in _encoded(work, messages, missing).items():
            found[place] = vector
    return found


def _encoded(work: Work, messages: Sequence[UntoldMessage], places: Sequence[int]) -> dict[int, MoodVector]:
    """Return the vectors of the messages at these places, without those that the model cannot embed.

    Dead letters of the stage embed are not tried again: if only they lacked a vector, every message would fail, and the
    model would be taken for broken.
    """

    def encode(some: Sequence[int]) -> dict[int, MoodVector]:
        wires = to_half_wire(work.embedder.encode([messages[place].text for place in some]))
        return dict(zip(some, from_half_wire([row.tobytes() for row in wires]), strict=True))

    with work.transaction() as conn:
        failed = failed_items(conn, work.tenant_id, "embed")
    vectors, _ = apart([place for place in places if str(messages[place].id) not in failed], encode)
    return vectors
