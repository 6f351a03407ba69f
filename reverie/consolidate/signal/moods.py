"""The chain of mood detection over messages of the log, as in a live request but without a time limit; pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt

from reverie.consolidate.signal.history import AuthorChain, UntoldMessage
from reverie.language.cues import linear
from reverie.language.cues.crisis import find_crisis, signs_of
from reverie.language.cues.immediate import extract_candidates
from reverie.language.cues.mood import OPPOSED, Mood, by_vector, in_crisis, read_mood
from reverie.language.text import CountTokens
from reverie.model import Turn
from reverie.policy import Policy

MoodVector = npt.NDArray[np.float32]
#: The last mood of each author in a session before the author's first message here, with its time.
Before = Mapping[AuthorChain, tuple[datetime, Mood]]


@dataclass(frozen=True, slots=True)
class ToldMood:
    """The mood of a message, and whether it sounds like a crisis."""

    message: UntoldMessage
    mood: Mood
    crisis: bool


def needs_vectors(policy: Policy, embedding_model: str) -> bool:
    """Return whether the chain or the search for crises uses vectors of this model."""
    if linear.load("mood_weights.json").embedding_model != embedding_model:
        return False
    listens = policy.crisis.detect and policy.crisis.vector_probability < 1
    return listens or "classifier" in policy.mood.after_failure


def may_be_crisis(vector: MoodVector, policy: Policy, embedding_model: str) -> bool:
    """Return whether a vector that is not of the words alone is so near to signs of a crisis that it must be made anew.

    A name before the words moves the probability: for one message from .09 to .78.
    """
    if not policy.crisis.detect or policy.crisis.vector_probability == 1:
        return False
    odds = linear.load("crisis_weights.json").probabilities(vector, embedding_model)
    return odds is not None and bool(odds[1] >= policy.crisis.embed_again_probability)


def tell_all(
    messages: Sequence[UntoldMessage],
    vectors: Sequence[MoodVector | None],
    before: Before,
    *,
    policy: Policy,
    embedding_model: str,
    instructs: Callable[[UntoldMessage], bool],
) -> list[ToldMood]:
    """Return the mood of each message; messages come session by session, in the order in which they were said.

    `before` has the last moods of the authors in a session; a mood counts for the same author's next message for
    `[working_memory] ttl_hours`. `instructs` is called only if the classifier finds anger.
    """
    told, lasts = [], timedelta(hours=policy.working_memory.ttl_hours)
    states = dict(before)
    for message, vector in zip(messages, vectors, strict=True):
        at, previous = states.get(message.chain, (message.said_at, None))
        if message.said_at - at > lasts:
            previous = None
        signs = signs_of(message.text, policy.crisis.phrases) if policy.crisis.detect else ()
        best = by_vector(vector, embedding_model, policy.mood.moods)
        mood = read_mood(
            message.text,
            mood=policy.mood,
            answer=message.told,
            vector=vector,
            embedding_model=embedding_model,
            previous=None if signs else previous,
            instructs=best is not None and best[0] in OPPOSED and message.told is None and instructs(message),
        )
        if signs:
            mood = in_crisis(mood, policy.mood.moods)
        crisis = find_crisis(
            message.text, crisis=policy.crisis, signs=signs, vector=vector, embedding_model=embedding_model
        )
        states[message.chain] = (message.said_at, mood)
        told.append(ToldMood(message, mood, crisis is not None))
    return told


def gives_instruction(message: UntoldMessage, tenant_id: str, policy: Policy, count_tokens: CountTokens) -> bool:
    """Return whether the rules find an instruction in a message."""
    turn = Turn(
        tenant_id=tenant_id,
        subject_id=message.subject_id,
        session_id=message.session_id,
        source_id=str(message.id),
        role="user",
        speaker=None,
        said_at=message.said_at,
        text=message.text,
    )
    return any(each.kind == "instruction" for each in extract_candidates(turn, policy, count_tokens).candidates)
