"""A pattern for each theme of a subject's episodes, chosen by rules and worded by rules or a language model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any
from uuid import UUID

from psycopg import Connection

from reverie.consolidate.compress.decide import Compression, pattern_of
from reverie.consolidate.compress.read import (
    ThemePortion,
    read_episodes,
    read_theme_evidence,
    read_themes,
    theme_portions,
)
from reverie.consolidate.compress.themes import Theme, assign_episodes
from reverie.consolidate.compress.worded_patterns import ask_patterns, pattern_input
from reverie.consolidate.compress.wording import pattern_text
from reverie.consolidate.compress.write import write_compressions
from reverie.inference.completions import LanguageModel
from reverie.llm.inputs import PromptInput, input_hash
from reverie.store.locks import lock_subjects
from reverie.store.runs import Run
from reverie.store.work import Work

#: Rounds in which a model is asked about themes, since they may change while it works.
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class PatternDraft:
    """A pattern in the rules' words, and the input of a model that may word it."""

    compression: Compression
    shown: PromptInput


def compress_themes(attempt: Run, model: LanguageModel | None) -> set[UUID]:
    """Make the patterns of all subjects in scope; return the episodes that joined one."""
    return {
        id_
        for portion in theme_portions(attempt.work)
        for compression in _compress_portion(attempt, portion, model)
        for id_ in compression.episodes
    }


def _compress_portion(attempt: Run, portion: ThemePortion, model: LanguageModel | None) -> list[Compression]:
    """Make the patterns of some subjects in one transaction, since an episode that joins a theme is lost to others.

    A model is asked before, without a connection. Themes that change before the subjects are locked are asked about in
    another round; after the last round, they keep the rules' wording.
    """
    work, compressions = attempt.work, list[Compression]()
    texts: dict[bytes, str | None] = {}
    for rounds_left in reversed(range(_ROUNDS if model else 1)):
        if model is not None:
            with work.transaction() as conn:
                inputs = [draft.shown for draft in _drafts(conn, work, portion)]
            texts |= ask_patterns(attempt, model, inputs, known=texts)
        with work.transaction() as conn:
            lock_subjects(conn, work.tenant_id, portion.subjects)
            drafts = _drafts(conn, work, portion)
            changed = [draft for draft in drafts if input_hash(draft.shown) not in texts] if model else []
            if changed and rounds_left:
                continue
            compressions = [_worded(draft, texts, model) for draft in drafts]
            if model is not None:
                attempt.report.add("failed_changed", len(changed))
                attempt.report.add("retold", sum(each.memory.model is not None for each in compressions))
            write_compressions(conn, attempt, compressions)
            attempt.record(conn)
        break
    return compressions


def _worded(draft: PatternDraft, texts: Mapping[bytes, str | None], model: LanguageModel | None) -> Compression:
    text = texts.get(input_hash(draft.shown)) if model else None
    if model is None or not text:
        return draft.compression
    return replace(draft.compression, memory=replace(draft.compression.memory, content=text, model=model.key))


def _drafts(conn: Connection[Any], work: Work, portion: ThemePortion) -> list[PatternDraft]:
    """Read the episodes of a portion's subjects and decide on new patterns."""
    themes = read_themes(conn, work, portion)
    if not themes:
        return []
    numbers = work.policy.compress
    episodes, vectors = read_episodes(conn, work, themes)
    chosen: list[Theme] = []
    for _, of_subject in groupby(themes, key=lambda theme: theme.subject_id):
        chosen += assign_episodes(
            of_subject, vectors, least=numbers.pattern_episodes, similarity=numbers.theme_similarity
        )
    if not chosen:
        return []
    drafts = []
    for theme, evidence in zip(chosen, read_theme_evidence(conn, work, chosen, episodes), strict=True):
        text = pattern_text(theme, evidence, vectors, contrast_ratio=numbers.contrast_ratio)
        compression = pattern_of(theme, evidence, text.text, work.policy, tenant_id=work.tenant_id, as_of=work.as_of)
        drafts.append(PatternDraft(compression, pattern_input(theme.subject_id, text, evidence)))
    return drafts
