"""Numbers of evaluation: which questions are made from a log, and when quality counts as worse."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from reverie.policy.table import Count, Share, Table


class EvaluationPolicy(Table):
    """Held-back questions, thresholds of the measures, and the gate (Agent 8)."""

    #: Questions of a tenant's log at most.
    questions: Count = 1000
    #: Turns of a log that are read for questions at most; of a larger one, the turns of some subjects.
    turns: Annotated[int, Field(ge=1, le=10_000_000)] = 100_000
    #: A shared word is rare if at most so many earlier turns have it, or this share of them.
    rare_turns: Count = 20
    rare_share: Share = 0.01
    #: Rare words that a message and an earlier sentence share at least, and the sum of their rarities, each
    #: ln(turns / turns with the word).
    shared_words: Count = 2
    shared_rarity: Annotated[float, Field(ge=0, le=100)] = 6.0
    #: How probable it is at least that a sentence states something worth keeping.
    worth: Share = 0.35
    #: Cosine of the two sentences at least; where the message asks or they share more words; where they share a name.
    similarity: Share = 0.7
    shared_similarity: Share = 0.6
    named_similarity: Share = 0.5
    #: A message that more turns share as much with refers to none of them in particular.
    most_needed: Count = 4
    #: An injected item counts as used if the reply has so many of its content words that the message lacks, ...
    used_words: Count = 2
    #: ... or is at least so similar to it (cosine).
    used_similarity: Share = 0.5
    #: Minutes within which the reply to a context or recall is looked for.
    reply_minutes: Annotated[float, Field(gt=0, le=1440)] = 10.0
    #: Two questions with this cosine ask for the same.
    repeat_similarity: Share = 0.85
    #: A fall of the mean of a measure that is accepted.
    tolerance: Share = 0.02
    #: Confidence of an interval.
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    #: Questions that a comparison needs.
    fewest: Count = 30
