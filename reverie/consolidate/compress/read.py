"""The themes and sessions that compress processes, from Postgres."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.compress.decide import SessionMemory
from reverie.consolidate.compress.themes import Episode, Theme, ThemeEvidence, ThemeTurn, Vector
from reverie.inference.wire import from_half_wire
from reverie.model.arrival import arrival
from reverie.model.ids import bound_after
from reverie.model.session_part import SessionKey, SessionPart, SessionTurn, ranges
from reverie.store.queries import queries
from reverie.store.work import Work

#: Episodes processed in one transaction, rounded up to whole subjects.
_EPISODES = 20_000

_TurnsAndOutcomes = tuple[list[ThemeTurn], dict[UUID, datetime]]


@dataclass(frozen=True, slots=True)
class ThemePortion:
    """Subjects whose themes are processed in one transaction."""

    subjects: Sequence[str]
    #: Their patterns for which new outcomes arrived.
    stale: Sequence[UUID]


def theme_portions(work: Work) -> list[ThemePortion]:
    """Return the subjects that may get a new pattern, in portions of about `_EPISODES` episodes."""
    numbers = work.policy.compress
    least = min(numbers.pattern_episodes, numbers.theme_episodes)
    sql, params = queries("compress"), work.params() | {"least": least}
    stale: dict[str, list[UUID]] = defaultdict(list)
    with work.transaction() as conn:
        for subject_id, pattern_id in conn.execute(sql["read_stale"], params).fetchall():
            stale[subject_id].append(pattern_id)
        sizes = dict(conn.execute(sql["read_busy"], params).fetchall())
    portions: list[list[str]] = [[]]
    total = 0
    for subject_id in sorted(sizes.keys() | stale.keys()):
        if total >= _EPISODES:
            portions.append([])
            total = 0
        portions[-1].append(subject_id)
        total += sizes.get(subject_id, 0)
    return [
        ThemePortion(subjects, [id_ for subject_id in subjects for id_ in stale[subject_id]])
        for subjects in portions
        if subjects
    ]


def read_themes(conn: Connection[Any], work: Work, portion: ThemePortion) -> list[Theme]:
    """Return the themes of a portion by subject and key, with the episodes that belong to them or may join them."""
    params = work.params() | {
        "busy": portion.subjects,
        "stale": portion.stale,
        "least": work.policy.compress.pattern_episodes,
        "few": work.policy.compress.theme_episodes,
        "later": bound_after(work.as_of),
    }
    stale = set(portion.stale)
    themes: dict[tuple[str, str], Theme] = {}
    for subject_id, key, pattern_id, id_, held, is_turn in conn.execute(queries("compress")["read_members"], params):
        theme = themes.setdefault(
            (subject_id, key), Theme(subject_id=subject_id, key=key, pattern_id=pattern_id, stale=pattern_id in stale)
        )
        (theme.held if held else theme.open).add(id_)
        if is_turn:
            theme.turns.add(id_)
    return list(themes.values())


def read_episodes(
    conn: Connection[Any], work: Work, themes: Sequence[Theme]
) -> tuple[dict[UUID, Episode], dict[UUID, Vector]]:
    """Return the episodes of themes and their vectors, by id."""
    turn_ids = sorted({id_ for theme in themes for id_ in theme.turns})
    ids = sorted({id_ for theme in themes for id_ in theme.open | theme.held} - set(turn_ids))
    params = work.params() | {"ids": ids, "turn_ids": turn_ids, "model": work.embedder.model}
    with conn.cursor(binary=True) as cursor:
        rows = cursor.execute(queries("compress")["read_episodes"], params).fetchall()
    episodes = {
        id_: Episode(id=id_, happened_at=at, content=content, arrived=arrival(*turn))
        for id_, at, content, _, *turn in rows
    }
    embedded = [(row[0], row[3]) for row in rows if row[3] is not None]
    matrix = from_half_wire([wire for _, wire in embedded])
    return episodes, {id_: vector for (id_, _), vector in zip(embedded, matrix, strict=True)}


def read_theme_evidence(
    conn: Connection[Any], work: Work, themes: Sequence[Theme], episodes: Mapping[UUID, Episode]
) -> list[ThemeEvidence]:
    """Return everything from which the pattern of each theme is made."""
    sql = queries("compress")
    names = {"busy": sorted({theme.subject_id for theme in themes}), "keys": [theme.key for theme in themes]}
    labels = {
        (subject_id, key): label
        for subject_id, key, label in conn.execute(sql["read_labels"], work.params() | names).fetchall()
    }
    older = {"ids": [theme.pattern_id for theme in themes if theme.pattern_id is not None]}
    accesses = {id_: row for id_, *row in conn.execute(sql["read_patterns"], work.params() | older).fetchall()}
    evidence = []
    for theme, (turns, outcomes) in zip(themes, _read_turns(conn, work, themes), strict=True):
        access_count, accessed_at = accesses.get(theme.pattern_id, (0, None))
        evidence.append(
            ThemeEvidence(
                label=labels.get((theme.subject_id, theme.key), theme.key.partition(":")[2]),
                episodes=sorted((episodes[id_] for id_ in theme.held if id_ in episodes), key=attrgetter("order")),
                turns=turns,
                outcomes=outcomes,
                access_count=access_count,
                accessed_at=accessed_at,
            )
        )
    return evidence


def _read_turns(conn: Connection[Any], work: Work, themes: Sequence[Theme]) -> list[_TurnsAndOutcomes]:
    """Return the turns of each theme in event order, and the times at which their outcomes were observed."""
    pairs = [(number, id_) for number, theme in enumerate(themes) for id_ in sorted(theme.held - theme.turns)]
    turns_of = [(number, id_) for number, theme in enumerate(themes) for id_ in sorted(theme.held & theme.turns)]
    roots = {
        "themes": [number for number, _ in pairs],
        "ids": [id_ for _, id_ in pairs],
        "turn_themes": [number for number, _ in turns_of],
        "turn_ids": [id_ for _, id_ in turns_of],
    }
    by_theme: list[_TurnsAndOutcomes] = [([], {}) for _ in themes]
    for number, id_, said_at, speaker, text, calls, rows in conn.execute(
        queries("compress")["read_source_turns"], work.params() | roots
    ):
        turns, observed_at = by_theme[number]
        # rows are in order of observation: the last value of a metric counts
        latest = {metric: (float(value), bool(positive)) for _, _, metric, value, positive in rows or ()}
        observed_at |= {UUID(outcome_id): datetime.fromisoformat(at) for outcome_id, at, *_ in rows or ()}
        turns.append(
            ThemeTurn(id=id_, said_at=said_at, speaker=speaker, text=text, tool_calls=calls or (), outcomes=latest)
        )
    return by_theme


def old_sessions(work: Work) -> list[SessionKey]:
    """Return the sessions that ended first, of subjects with too many sessions without a summary."""
    threshold = work.policy.compress.session_threshold
    return _sessions(work, "read_old_sessions", {"threshold": threshold, "half": max(threshold // 2, 1)})


def long_sessions(work: Work) -> list[SessionKey]:
    """Return the sessions that have too many turns since their last summary."""
    return _sessions(work, "read_long_sessions", {"running": work.policy.compress.running_turns})


def _sessions(work: Work, query: str, numbers: dict[str, int]) -> list[SessionKey]:
    with work.transaction() as conn:
        return conn.execute(queries("compress")[query], work.params() | numbers).fetchall()


def whole_sessions(conn: Connection[Any], work: Work, sessions: Sequence[SessionKey]) -> Iterator[SessionPart]:
    """Yield each session as one part."""
    rows = conn.execute(queries("compress")["read_session_turns"], work.params() | _named(sessions)).fetchall()
    for place, of_session in groupby(rows, key=itemgetter(0)):
        subject_id, session_id = sessions[place - 1]
        yield SessionPart(subject_id, session_id, [SessionTurn(*row[1:]) for row in of_session])


def unsummarised_ranges(conn: Connection[Any], work: Work, sessions: Sequence[SessionKey]) -> Iterator[SessionPart]:
    """Yield, in ranges, the older turns of each session that no summary covers; the policy sets how many turns stay."""
    size, keep = work.policy.compress.range_turns, work.policy.compress.running_keep
    rows = conn.execute(queries("compress")["read_unsummarised_turns"], work.params() | _named(sessions)).fetchall()
    for (place, before), of_session in groupby(rows, key=itemgetter(0, 1)):
        turns = [SessionTurn(*row[2:]) for row in of_session]
        yield from ranges(sessions[place - 1], turns, before=before, size=size, keep=keep)


def read_session_memories(
    conn: Connection[Any], work: Work, sessions: Sequence[SessionKey]
) -> dict[SessionKey, list[SessionMemory]]:
    """Return the memories that come from sessions."""
    memories: dict[SessionKey, list[SessionMemory]] = defaultdict(list)
    params = work.params() | _named(sessions)
    for place, *row in conn.execute(queries("compress")["read_session_memories"], params).fetchall():
        memories[sessions[place - 1]].append(SessionMemory(*row))
    return memories


def _named(sessions: Sequence[SessionKey]) -> dict[str, list[str]]:
    return {
        "subject_ids": [subject_id for subject_id, _ in sessions],
        "session_ids": [session_id for _, session_id in sessions],
    }
