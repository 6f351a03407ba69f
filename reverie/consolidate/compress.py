"""compress: episodes on one theme become a pattern, old sessions summaries (spec C2, C3; Brain 4.4, Logic 3).

What is replaced stays, in state `compressed` and with its lineage, but leaves the context. A pattern or summary is as
old as the last thing it was made from, not as the run that made it, and fades from there: a late run, a skipped cycle
or a backfill gives the same memory as a live system, and compressing makes nothing younger than it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.fading import forget_at
from reverie.consolidate.retell import Retold, dated, retell
from reverie.consolidate.themes import Decision, Episode, Theme, Vectors, gather, wording
from reverie.cues.summarise import Line, summarise
from reverie.inference.completions import LanguageModel
from reverie.inference.wire import from_half_wire
from reverie.model import Kind, Scope, stable_id
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Report, Run, run

#: Episodes, and sessions, worked in one transaction, up to the last subject or session begun.
_EPISODES = 20_000
_SESSIONS = 1_000

Params = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """A new pattern or summary and what it replaces."""

    id: UUID
    subject_id: str
    kind: Kind
    content: str
    importance: float
    happened_at: datetime
    accessed_at: datetime
    origin: str
    access_count: int = 0
    session_id: str | None = None
    #: Language model that wrote the content; None for rules.
    model: str | None = None
    #: Episodes that it replaces.
    episodes: Sequence[UUID]
    #: The older pattern on the same theme.
    pattern_id: UUID | None = None
    #: (relation, source, source_id)
    lineage: Sequence[tuple[str, str, UUID]]
    #: Memories whose entities it speaks of.
    speaks_like: Sequence[UUID]


def compress(
    store: Store,
    *,
    scope: Scope,
    policy: Policy,
    as_of: datetime,
    model: str,
    language_model: LanguageModel | None = None,
    driver: str = "reverie",
    dry_run: bool = False,
) -> Report:
    """Make patterns and summaries; counts `patterns`, `replaced` patterns, `summaries` and `episodes` compressed.

    `model` names the vectors that closeness to a theme is measured with. New memories have none yet: embed follows.
    With a `language_model`, summaries are in its words where these stand on what was said, else extracted; the counts
    of `ask` come with them, and `retold`. A dry run asks no model.
    """
    with run(store, "compress", scope=scope, policy=policy, as_of=as_of, driver=driver, dry_run=dry_run) as attempt:
        for name in ("patterns", "replaced", "summaries", "episodes"):
            attempt.report.add(name, 0)
        params = scope.params() | {
            "as_of": as_of,
            "model": model,
            "least": policy.compress.pattern_episodes,
            "threshold": policy.compress.session_threshold,
            "half": max(policy.compress.session_threshold // 2, 1),
            "run_id": attempt.id,
            "policy_hash": policy.hash,
        }
        taken: set[UUID] = set()
        if policy.compress.pattern_episodes:
            for made in _compress_themes(store, attempt, policy, params):
                taken.update(made.episodes)
        if policy.compress.session_threshold:
            # in a dry run no state says which episodes the patterns took
            _compress_sessions(store, attempt, policy, params, taken, None if dry_run else language_model)
        with store.transaction(scope.tenant_id) as conn:
            attempt.record(conn)
    return attempt.report


def _compress_themes(store: Store, attempt: Run, policy: Policy, params: Params) -> Iterator[Made]:
    sql = queries("compress")
    with store.transaction(params["tenant"]) as conn:
        stale: dict[str, list[UUID]] = defaultdict(list)
        for subject, pattern_id in conn.execute(sql["read_stale"], params).fetchall():
            stale[subject].append(pattern_id)
        busy = dict(conn.execute(sql["read_busy"], params).fetchall())
    sizes = [(subject, busy.get(subject, 0)) for subject in sorted(busy.keys() | stale.keys())]
    for subjects in _portions(sizes):
        with store.transaction(params["tenant"]) as conn:
            of_chunk = {"busy": subjects, "stale": [id_ for subject in subjects for id_ in stale[subject]]}
            conn.execute(queries("subjects")["lock_subjects"], params | {"subjects": subjects})
            made = _patterns(conn, policy, params | of_chunk)
            _write(conn, attempt, policy, params, made)
            attempt.record(conn)
        yield from made


def _portions(sizes: Sequence[tuple[str, int]]) -> Iterator[list[str]]:
    """Subjects in portions of about `_EPISODES` episodes."""
    portion: list[str] = []
    total = 0
    for subject, size in sizes:
        portion.append(subject)
        total += size
        if total >= _EPISODES:
            yield portion
            portion, total = [], 0
    if portion:
        yield portion


def _patterns(conn: Connection[Any], policy: Policy, params: Params) -> list[Made]:
    """Read the episodes of the chunk's subjects and decide on new patterns."""
    themes = _read_themes(conn, params)
    if not themes:
        return []
    ids = sorted({id_ for theme in themes for id_ in theme.open | theme.held})
    episodes, vectors = _read_episodes(conn, params | {"ids": ids})
    numbers = policy.compress
    chosen: list[Theme] = []
    for _, of_subject in groupby(themes, key=lambda theme: theme.subject_id):
        chosen += gather(of_subject, vectors, least=numbers.pattern_episodes, similarity=numbers.theme_similarity)
    if not chosen:
        return []
    sql = queries("compress")
    labels = {
        (subject, key): label
        for subject, key, label in conn.execute(sql["read_labels"], params | {"keys": [one.key for one in chosen]})
    }
    replaced = [theme.pattern_id for theme in chosen if theme.pattern_id is not None]
    before = {row[0]: row[1:] for row in conn.execute(sql["read_patterns"], params | {"ids": replaced})}
    decisions = _read_decisions(conn, chosen, params)
    made = []
    for theme, (turns, outcomes) in zip(chosen, decisions, strict=True):
        told = sorted(
            (episodes[id_] for id_ in theme.held if id_ in episodes), key=lambda one: (one.happened_at, one.id)
        )
        content = wording(
            theme,
            labels.get((theme.subject_id, theme.key), theme.key.partition(":")[2]),
            told,
            turns,
            vectors,
            contrast_ratio=numbers.contrast_ratio,
        )
        moments = [one.happened_at for one in told] + [one.said_at for one in turns] + list(outcomes.values())
        count, accessed_at = before.get(theme.pattern_id, (0, max(moments)))
        made.append(_pattern(theme, content, outcomes, max(moments), count, accessed_at, policy, params["tenant"]))
    return made


def _pattern(
    theme: Theme,
    content: str,
    outcomes: dict[UUID, datetime],
    happened_at: datetime,
    access_count: int,
    accessed_at: datetime,
    policy: Policy,
    tenant_id: str,
) -> Made:
    held = sorted(theme.held)
    older = [("merged", "memory", theme.pattern_id)] if theme.pattern_id else []
    sources = map(str, [*held, *sorted(outcomes)])
    return Made(
        id=stable_id(happened_at, "pattern", tenant_id, theme.subject_id, theme.key, *sources),
        subject_id=theme.subject_id,
        kind="pattern",
        content=content,
        importance=policy.compress.pattern_importance,
        happened_at=happened_at,
        # what was asked of the older pattern was asked of this one
        accessed_at=max(happened_at, accessed_at),
        access_count=access_count,
        origin=f"theme:{theme.key}",
        episodes=sorted(theme.joined),
        pattern_id=theme.pattern_id,
        lineage=[
            *(("compressed", "memory", id_) for id_ in held),
            *(("outcome", "outcome", id_) for id_ in sorted(outcomes)),
            *older,
        ],
        speaks_like=[*theme.joined, *(id_ for _, _, id_ in older)],
    )


def _read_themes(conn: Connection[Any], params: Params) -> list[Theme]:
    stale = set(params["stale"])
    themes: dict[tuple[str, str], Theme] = {}
    for subject, key, pattern_id, id_, held in conn.execute(queries("compress")["read_members"], params):
        theme = themes.setdefault(
            (subject, key), Theme(subject_id=subject, key=key, pattern_id=pattern_id, stale=pattern_id in stale)
        )
        (theme.held if held else theme.open).add(id_)
    return list(themes.values())


def _read_episodes(conn: Connection[Any], params: Params) -> tuple[dict[UUID, Episode], dict[UUID, Vectors]]:
    with conn.cursor(binary=True) as cursor:
        rows = cursor.execute(queries("compress")["read_episodes"], params).fetchall()
    episodes = {row[0]: Episode(id=row[0], happened_at=row[1], content=row[2]) for row in rows}
    embedded = [(id_, wire) for id_, _, _, wire in rows if wire is not None]
    matrix = from_half_wire([wire for _, wire in embedded])
    return episodes, {id_: vector for (id_, _), vector in zip(embedded, matrix, strict=True)}


def _read_decisions(
    conn: Connection[Any], themes: Sequence[Theme], params: Params
) -> list[tuple[list[Decision], dict[UUID, datetime]]]:
    """The turns of each theme in event order, and when each of their outcomes was observed."""
    pairs = [(number, id_) for number, theme in enumerate(themes) for id_ in sorted(theme.held)]
    roots = {"themes": [number for number, _ in pairs], "ids": [id_ for _, id_ in pairs]}
    found: list[tuple[list[Decision], dict[UUID, datetime]]] = [([], {}) for _ in themes]
    for number, id_, said_at, speaker, calls, rows in conn.execute(
        queries("compress")["read_decisions"], params | roots
    ):
        turns, observed = found[number]
        # in order of observation: the last value of a metric counts
        latest = {metric: (float(value), bool(positive)) for _, _, metric, value, positive in rows or ()}
        observed |= {UUID(outcome): datetime.fromisoformat(at) for outcome, at, *_ in rows or ()}
        turns.append(Decision(turn_id=id_, said_at=said_at, speaker=speaker, tool_calls=calls or (), outcomes=latest))
    return found


def _compress_sessions(
    store: Store,
    attempt: Run,
    policy: Policy,
    params: Params,
    taken: set[UUID],
    language_model: LanguageModel | None,
) -> None:
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
            _write(conn, attempt, policy, params, made)
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


def _write(conn: Connection[Any], attempt: Run, policy: Policy, params: Params, made: Sequence[Made]) -> None:
    """Write the new memories with lineage and links, and take out of the context what they replace."""
    if not made:
        return
    sql = queries("compress")
    conn.execute(
        sql["write_memories"],
        params
        | {
            "ids": [one.id for one in made],
            "subject_ids": [one.subject_id for one in made],
            "kinds": [one.kind for one in made],
            "contents": [one.content for one in made],
            "importances": [one.importance for one in made],
            "access_counts": [one.access_count for one in made],
            "happened_at": [one.happened_at for one in made],
            "accessed_at": [one.accessed_at for one in made],
            "forget_at": [_forgotten(one, policy) for one in made],
            "session_ids": [one.session_id for one in made],
            "origins": [one.origin for one in made],
            "models": [one.model for one in made],
        },
    )
    edges = [(one.id, *edge) for one in made for edge in one.lineage]
    columns = dict(zip(("ids", "relations", "sources", "source_ids"), zip(*edges, strict=True), strict=True))
    conn.execute(sql["write_lineage"], params | {name: list(column) for name, column in columns.items()})
    alike = [(one.id, id_) for one in made for id_ in one.speaks_like]
    conn.execute(
        sql["write_links"], params | {"ids": [pair[0] for pair in alike], "source_ids": [pair[1] for pair in alike]}
    )
    replaced = [(id_, one.id, "compressed") for one in made for id_ in one.episodes]
    replaced += [(one.pattern_id, one.id, "merged") for one in made if one.pattern_id is not None]
    gone: Params = {"ids": [row[0] for row in replaced], "live": False}
    into = {"into_ids": [row[1] for row in replaced], "states": [row[2] for row in replaced]}
    conn.execute(sql["write_replaced"], params | gone | into)
    conn.execute(queries("merge")["set_live"], params | gone)
    for one in made:
        attempt.report.add("patterns" if one.kind == "pattern" else "summaries")
        attempt.report.add("replaced", one.pattern_id is not None)
        attempt.report.add("episodes", len(one.episodes))


def _forgotten(one: Made, policy: Policy) -> datetime | None:
    return forget_at(
        one.importance,
        one.accessed_at,
        rate=policy.decay.rates[one.kind],
        grace_days=policy.decay.grace_days,
        below=policy.prune.below,
        unaccessed_days=policy.prune.unaccessed_days,
    )
