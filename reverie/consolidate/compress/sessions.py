"""Summaries of sessions, in their own sentences or in a model's words (spec B6, C3; Chat flow 1, Logic 3).

Old sessions are told whole. Of a running one that holds many turns the oldest are told as a range, the last stay as
they were said; when it is old, the summary of the whole replaces those of its ranges. Which turns a range tells is
fixed by the lineage once it is made: what comes in late is told by a later one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.compress.worded_sessions import Passage, Retold, retell
from reverie.consolidate.compress.write import Made, Params, write
from reverie.inference.completions import LanguageModel
from reverie.language.cues.summarise import Line, summarise_all
from reverie.language.text import author, strip_invisible, written_day
from reverie.model import stable_id
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Run

#: Sessions worked in one transaction.
_SESSIONS = 1_000

Sessions = Sequence[tuple[str, str]]
#: Reads what is to be told of some sessions.
Read = Callable[[Connection[Any], Params], Iterator[Passage]]
#: What is remembered of a session: (id, kind, whether it is in the context, turn).
Remembered = Sequence[tuple[UUID, str, bool, UUID | None]]


def compress_sessions(
    store: Store,
    attempt: Run,
    policy: Policy,
    params: Params,
    taken: set[UUID],
    language_model: LanguageModel | None,
) -> set[tuple[str, str]]:
    """Summarise the oldest sessions of subjects with too many; episodes `taken` by a pattern are the pattern's.

    Returns the sessions (subject, session) that are told, or wait for a model that did not answer.
    """
    with store.transaction(params["tenant"]) as conn:
        sessions = conn.execute(queries("compress")["read_old_sessions"], params).fetchall()
    _work_in(store, attempt, policy, params, sessions, _wholes, taken, language_model)
    return set(sessions)


def compress_running(
    store: Store,
    attempt: Run,
    policy: Policy,
    params: Params,
    told: set[tuple[str, str]],
    language_model: LanguageModel | None,
) -> None:
    """Summarise the oldest turns of sessions that hold too many, unless they are `told` whole."""
    size, keep = policy.compress.range_turns, policy.compress.running_keep
    with store.transaction(params["tenant"]) as conn:
        found = conn.execute(queries("compress")["read_running"], params).fetchall()
    sessions = [session for session in found if session not in told]

    def ranges(conn: Connection[Any], of_portion: Params) -> Iterator[Passage]:
        rows = conn.execute(queries("compress")["read_untold_turns"], of_portion).fetchall()
        for (place, before), of_session in groupby(rows, key=itemgetter(0, 1)):
            turns = [row[2:] for row in of_session]
            subject_id, session_id = of_portion["subject_ids"][place - 1], of_portion["session_ids"][place - 1]
            for at in range(0, (len(turns) - keep) // size * size, size):
                yield Passage(subject_id, session_id, turns[at : at + size], start=before + at + 1, whole=False)

    _work_in(store, attempt, policy, params, sessions, ranges, set(), language_model)


def _wholes(conn: Connection[Any], of_portion: Params) -> Iterator[Passage]:
    rows = conn.execute(queries("compress")["read_session_turns"], of_portion).fetchall()
    for place, of_session in groupby(rows, key=itemgetter(0)):
        turns = [row[1:] for row in of_session]
        yield Passage(of_portion["subject_ids"][place - 1], of_portion["session_ids"][place - 1], turns)


def _work_in(
    store: Store,
    attempt: Run,
    policy: Policy,
    params: Params,
    sessions: Sessions,
    read: Read,
    taken: set[UUID],
    language_model: LanguageModel | None,
) -> None:
    for start in range(0, len(sessions), _SESSIONS):
        portion, retold = sessions[start : start + _SESSIONS], None
        if language_model is not None:
            with store.transaction(params["tenant"]) as conn:
                passages = list(read(conn, params | _of(portion)))
            retold = retell(
                store,
                attempt,
                language_model,
                passages,
                tenant_id=params["tenant"],
                sentences=policy.compress.summary_sentences,
            )
            portion = [session for session in portion if session not in retold.waiting]
        of_portion = params | _of(portion)
        with store.transaction(params["tenant"]) as conn:
            conn.execute(queries("subjects")["lock_subjects"], params | {"subjects": of_portion["subject_ids"]})
            remembered: dict[tuple[str, str], list[tuple[UUID, str, bool, UUID | None]]] = defaultdict(list)
            for place, id_, kind, is_open, turn_id in conn.execute(
                queries("compress")["read_session_memories"], of_portion
            ):
                remembered[portion[place - 1]].append((id_, kind, is_open and id_ not in taken, turn_id))
            passages = list(read(conn, of_portion))
            texts = summarise_all(
                [_lines(passage) for passage in passages],
                number=policy.compress.summary_sentences,
                numbers=policy.salience,
            )
            made = [
                _summary(passage, text, remembered[passage.session], policy, params["tenant"], retold)
                for passage, text in zip(passages, texts, strict=True)
            ]
            if retold is not None:
                attempt.report.add("retold", sum(one.model is not None for one in made))
            write(conn, attempt, policy, params, made)
            attempt.record(conn)


def _of(sessions: Sessions) -> Params:
    return {"subject_ids": [row[0] for row in sessions], "session_ids": [row[1] for row in sessions]}


def _lines(passage: Passage) -> list[Line]:
    spoken = [row for row in passage.turns if row[2] in ("user", "assistant")] or passage.turns
    return [
        Line(speaker=author(row[3], row[2]) or "User", text=strip_invisible(row[4]), said_at=row[1]) for row in spoken
    ]


def _summary(
    passage: Passage, content: str, remembered: Remembered, policy: Policy, tenant_id: str, retold: Retold | None
) -> Made:
    """The summary in the rules' words, `content`, or in a model's."""
    turns, whole, model = passage.turns, passage.whole, None
    if retold is not None:
        shown, text = retold.texts.get(passage.key, (frozenset(), ""))
        if text and shown == {row[0] for row in turns}:  # what was said since then it does not tell
            content, model = f"{written_day(turns[0][1])}. {text}", retold.model
    happened_at = max(row[1] for row in turns)
    ids = {row[0] for row in turns}
    name = [passage.subject_id, passage.session_id, *([] if whole else [str(passage.start), str(passage.end)])]
    # a part leaves what is remembered of it as it is, and is itself replaced by the whole
    replaced = [(id_, kind) for id_, kind, is_open, _ in remembered if is_open and whole]
    return Made(
        id=stable_id(happened_at, "summary", tenant_id, *name),
        subject_id=passage.subject_id,
        kind="summary",
        content=content,
        model=model,
        importance=policy.compress.summary_importance,
        happened_at=happened_at,
        accessed_at=happened_at,
        session_id=passage.session_id,
        turn_start=passage.start,
        turn_end=passage.end,
        origin="session" if whole else "range",
        episodes=[id_ for id_, kind in replaced if kind == "episode"],
        ranges=[id_ for id_, kind in replaced if kind == "summary"],
        lineage=[
            *(("compressed" if whole else "summarised", "turn", row[0]) for row in turns),
            *(("compressed", "memory", id_) for id_, _ in replaced),
        ],
        speaks_like=[id_ for id_, _, _, turn_id in remembered if whole or turn_id in ids],
    )
