"""Summaries of sessions, in their own sentences or in a model's words (spec B6, C3; Chat flow 1, Logic 3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from reverie.consolidate.compress_write import Made, Params, write
from reverie.consolidate.retell import Retold, dated, retell
from reverie.cues.summarise import Line, summarise
from reverie.inference.completions import LanguageModel
from reverie.model import stable_id
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Run

#: Sessions worked in one transaction.
_SESSIONS = 1_000


def compress_sessions(
    store: Store,
    attempt: Run,
    policy: Policy,
    params: Params,
    taken: set[UUID],
    language_model: LanguageModel | None,
) -> None:
    """Summarise the oldest sessions of subjects with too many; episodes `taken` by a pattern are the pattern's."""
    sql = queries("compress")
    with store.transaction(params["tenant"]) as conn:
        sessions = conn.execute(sql["read_old_sessions"], params).fetchall()
    for start in range(0, len(sessions), _SESSIONS):
        portion, retold = sessions[start : start + _SESSIONS], None
        if language_model is not None:
            number = policy.compress.summary_sentences
            retold = retell(store, attempt, language_model, params | _of(portion), sentences=number)
            portion = [session for session in portion if session not in retold.waiting]
        of_chunk = _of(portion)
        with store.transaction(params["tenant"]) as conn:
            conn.execute(queries("subjects")["lock_subjects"], params | {"subjects": of_chunk["subject_ids"]})
            remembered: dict[int, list[tuple[UUID, bool]]] = defaultdict(list)
            for place, id_, is_open in conn.execute(sql["read_session_memories"], params | of_chunk):
                remembered[place].append((id_, is_open and id_ not in taken))
            turns = conn.execute(sql["read_session_turns"], params | of_chunk).fetchall()
            made = [
                _summary(portion[place - 1], list(of_session), remembered[place], policy, params["tenant"], retold)
                for place, of_session in groupby(turns, key=itemgetter(0))
            ]
            if retold is not None:
                attempt.report.add("retold", sum(one.model is not None for one in made))
            write(conn, attempt, policy, params, made)
            attempt.record(conn)


def _of(sessions: Sequence[tuple[str, str]]) -> Params:
    return {"subject_ids": [row[0] for row in sessions], "session_ids": [row[1] for row in sessions]}


def _summary(
    session: tuple[str, str],
    turns: list[tuple[Any, ...]],
    remembered: Sequence[tuple[UUID, bool]],
    policy: Policy,
    tenant_id: str,
    retold: Retold | None,
) -> Made:
    subject_id, session_id = session
    spoken = [row for row in turns if row[3] in ("user", "assistant")] or turns
    lines = [Line(speaker=row[4] or row[3].capitalize(), text=row[5], said_at=row[2]) for row in spoken]
    content, model = summarise(lines, number=policy.compress.summary_sentences, numbers=policy.salience), None
    if retold is not None:
        shown, text = retold.texts.get(session, (frozenset(), ""))
        if text and shown == {row[1] for row in turns}:  # what was said since then it does not tell
            content, model = f"{dated(turns[0][2])}. {text}", retold.model
    happened_at = max(row[2] for row in turns)
    episodes = [id_ for id_, is_open in remembered if is_open]
    return Made(
        id=stable_id(happened_at, "summary", tenant_id, subject_id, session_id),
        subject_id=subject_id,
        kind="summary",
        content=content,
        model=model,
        importance=policy.compress.summary_importance,
        happened_at=happened_at,
        accessed_at=happened_at,
        session_id=session_id,
        origin="session",
        episodes=episodes,
        lineage=[
            *(("compressed", "turn", row[1]) for row in turns),
            *(("compressed", "memory", id_) for id_ in episodes),
        ],
        speaks_like=[id_ for id_, _ in remembered],
    )
