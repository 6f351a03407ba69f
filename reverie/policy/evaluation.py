"""The `[evaluation]` heading: which questions are made from a log, and when quality counts as worse."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from reverie.policy.table import Count, Share, Table


class EvaluationPolicy(Table):
    """Held-back questions, thresholds of the measures, and the gate (Agent 8)."""

    #: Maximum number of questions made from a tenant's log.
    questions: Count = 1000
    #: Maximum number of turns read to make questions; of a larger log, the turns of some subjects are read.
    turns: Annotated[int, Field(ge=1, le=10_000_000)] = 100_000
    #: Maximum number of earlier turns with a shared word for it to be rare.
    rare_turns: Count = 20
    #: The same as a share of the earlier turns; the larger of the two limits applies.
    rare_share: Share = 0.01
    #: Minimum number of rare words that a message and an earlier sentence must share.
    shared_words: Count = 2
    #: Minimum sum of the rarities of the shared words, each ln(turns / turns with the word).
    shared_rarity: Annotated[float, Field(ge=0, le=100)] = 6.0
    #: Minimum probability that a sentence states something worth keeping.
    worth: Share = 0.35
    #: Minimum cosine of the two sentences.
    similarity: Share = 0.7
    #: Minimum cosine if the message asks, or if they share more than `shared_words` words.
    shared_similarity: Share = 0.6
    #: Minimum cosine if they share a name.
    named_similarity: Share = 0.5
    #: Maximum number of turns to which a message refers; if more share as much with it, it counts as no reference.
    most_needed: Count = 4
    #: Minimum number of content words that the reply shares with an injected item that was used, but not the message.
    used_words: Count = 2
    #: Cosine to the reply from which an injected item counts as used as well.
    used_similarity: Share = 0.5
    #: Minutes after a context or recall within which a turn counts as the reply to it.
    reply_minutes: Annotated[float, Field(gt=0, le=1440)] = 10.0
    #: Cosine from which two questions count as the same.
    repeat_similarity: Share = 0.85
    #: Accepted fall of the mean of a measure.
    tolerance: Share = 0.02
    #: Confidence level of the intervals.
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    #: Minimum number of questions for a comparison.
    fewest: Count = 30
