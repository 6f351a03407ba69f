"""Patterns: the themes of a subject's episodes, decided by the rules and worded by them or by a model (spec C2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.compress.themes import Decision, Episode, Theme, Vectors, gather, wording
from reverie.consolidate.compress.worded_patterns import retell_themes, shown
from reverie.consolidate.compress.write import Made, Params, write
from reverie.inference.completions import LanguageModel
from reverie.inference.wire import from_half_wire
from reverie.llm.inputs import PromptInput, input_hash
from reverie.model import stable_id
from reverie.model.arrival import arrival
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.queries import queries
from reverie.store.runs import Run

#: Episodes worked in one transaction, up to the last subject begun.
_EPISODES = 20_000
#: How often a model is asked about what changed while it was asked.
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Draft:
    """A pattern in the rules' words, and what a model is shown to word it."""

    made: Made
    item: PromptInput


def compress_themes(
    store: Store, attempt: Run, policy: Policy, params: Params, language_model: LanguageModel | None
) -> set[UUID]:
    """Make the patterns of all subjects in scope; returns the episodes that they took."""
    sql = queries("compress")
    with store.transaction(params["tenant"]) as conn:
        stale: dict[str, list[UUID]] = defaultdict(list)
        for subject, pattern_id in conn.execute(sql["read_stale"], params).fetchall():
            stale[subject].append(pattern_id)
        busy = dict(conn.execute(sql["read_busy"], params).fetchall())
    sizes = [(subject, busy.get(subject, 0)) for subject in sorted(busy.keys() | stale.keys())]
    taken: set[UUID] = set()
    for subjects in _portions(sizes):
        of_chunk = {"busy": subjects, "stale": [id_ for subject in subjects for id_ in stale[subject]]}
        for made in _work_in(store, attempt, policy, params | of_chunk | {"subjects": subjects}, language_model):
            taken.update(made.episodes)
    return taken


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


def _work_in(
    store: Store, attempt: Run, policy: Policy, params: Params, language_model: LanguageModel | None
) -> list[Made]:
    """Make the patterns of some subjects in one transaction, since what one theme takes is gone for the others.

    A model is asked before, without a connection. What others change until the subjects are locked is asked about in
    another round; after the last the rules' wording stands for it.
    """
    made: list[Made] = []
    worded: dict[bytes, str | None] = {}
    for left in reversed(range(_ROUNDS if language_model else 1)):
        if language_model is not None:
            with store.transaction(params["tenant"]) as conn:
                items = [draft.item for draft in _drafts(conn, policy, params)]
            worded |= retell_themes(store, attempt, language_model, items, tenant_id=params["tenant"], known=worded)
        with store.transaction(params["tenant"]) as conn:
            conn.execute(queries("subjects")["lock_subjects"], params)
            drafts = _drafts(conn, policy, params)
            unknown = [draft for draft in drafts if input_hash(draft.item) not in worded] if language_model else []
            if unknown and left:
                continue
            made = [_worded(draft, worded, language_model) for draft in drafts]
            if language_model is not None:
                attempt.report.add("failed_changed", len(unknown))
                attempt.report.add("retold", sum(one.model is not None for one in made))
            write(conn, attempt, policy, params, made)
            attempt.record(conn)
        break
    return made


def _worded(draft: Draft, worded: Mapping[bytes, str | None], language_model: LanguageModel | None) -> Made:
    text = worded.get(input_hash(draft.item)) if language_model else None
    return replace(draft.made, content=text, model=language_model.key) if language_model and text else draft.made


def _drafts(conn: Connection[Any], policy: Policy, params: Params) -> list[Draft]:
    """Read the episodes of the portion's subjects and decide on new patterns."""
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
    drafts = []
    for theme, (turns, outcomes) in zip(chosen, decisions, strict=True):
        told = sorted((episodes[id_] for id_ in theme.held if id_ in episodes), key=attrgetter("order"))
        label = labels.get((theme.subject_id, theme.key), theme.key.partition(":")[2])
        said = wording(theme, label, told, turns, vectors, contrast_ratio=numbers.contrast_ratio)
        moments = [one.happened_at for one in told] + [one.said_at for one in turns] + list(outcomes.values())
        count, accessed_at = before.get(theme.pattern_id, (0, max(moments)))
        made = _pattern(theme, said.text, outcomes, max(moments), count, accessed_at, policy, params["tenant"])
        drafts.append(Draft(made, shown(theme.subject_id, said, told, turns)))
    return drafts


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
    episodes = {
        id_: Episode(id=id_, happened_at=at, content=content, arrived=arrival(*turn))
        for id_, at, content, _, *turn in rows
    }
    embedded = [(row[0], row[3]) for row in rows if row[3] is not None]
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
