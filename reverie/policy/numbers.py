"""The headings of a policy file that hold numbers: one class each, each key with its range and its seed."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Literal, Self, get_args

from pydantic import AfterValidator, Field, field_validator, model_validator

from reverie.model import KINDS, Kind
from reverie.policy.extract import Share, Table, common

Weight = Annotated[float, Field(ge=-20.0, le=20.0)]
Count = Annotated[int, Field(ge=1, le=100_000)]
Days = Annotated[float, Field(ge=0.0, le=36_500.0)]


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from error
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]
#: One that is searched in many texts at once.
ColumnPattern = Annotated[str, AfterValidator(_compiles), AfterValidator(common)]
Tokens = Annotated[int, Field(ge=0, le=1_000_000)]

#: The signals recall can weigh, in the order in which `sql/queries/recall.sql` measures them.
SIGNALS = (
    "similarity",
    "lexical",
    "answers",
    "session_similarity",
    "speaker",
    "date",
    "first_person",
    "names_time",
    "asks",
    "assistant",
    "asked_assistant",
    "memory",
    "recency",
    "importance",
    "access",
    "entity",
)


class Importance(Table):
    """How important a new memory is (Brain 4, Contact 2.2, Logic 1.5)."""

    #: `kind`: by the table of `[extract]`. `novelty_salience`: novelty_weight * novelty + salience_weight * salience.
    mode: Literal["kind", "novelty_salience"]
    novelty_weight: Share
    salience_weight: Share
    #: Less important than this is discarded and counted; 0 keeps all.
    threshold: Share
    #: Gained when the decision a memory is tied to had a positive outcome (Brain 4.3).
    outcome_boost: Share


class Chunking(Table):
    """Into what pieces long texts are cut (Logic 1.3)."""

    min_tokens: Annotated[int, Field(ge=1, le=10_000)]
    max_tokens: Annotated[int, Field(ge=2, le=10_000)]


class Merge(Table):
    """When two memories of a subject and kind are one (Brain 4.3, Contact 3.2)."""

    #: Cosine above which they merge, unless polarity, numbers or names differ.
    threshold: Annotated[float, Field(ge=0.5, le=1.0)]
    #: Gained by the survivor, at most to 1.0.
    reinforce: Share
    #: Kinds that are merged.
    kinds: tuple[Kind, ...]
    #: Most recent memories that a request compares its new candidates with (Contact 3.2); 0: none.
    recent: Annotated[int, Field(ge=0, le=1000)]


class Decay(Table):
    """How importance fades when nobody asks (Brain 4.4, Contact 2.2)."""

    #: Days without access before decay begins.
    grace_days: Days
    #: Importance lost a day after that, by kind.
    rates: dict[Kind, Annotated[float, Field(ge=0.0, le=1.0)]]

    @model_validator(mode="after")
    def _all_kinds(self) -> Self:
        if missing := [kind for kind in KINDS if kind not in self.rates]:
            raise ValueError(f"rates lacks {', '.join(missing)}")
        return self


class Compress(Table):
    """When episodes become patterns and sessions summaries (Brain 4.4, Contact 6.2, Logic 3, Chat flow 1)."""

    #: Episodes on one theme that make a pattern; 0 makes none.
    pattern_episodes: Annotated[int, Field(ge=0, le=1000)]
    #: Cosine to the theme's centre that an episode needs to belong to it.
    theme_similarity: Share
    #: Ratio of two groups' means from which a pattern quantifies the difference.
    contrast_ratio: Annotated[float, Field(ge=1.0, le=100.0)]
    pattern_importance: Share
    #: Uncompressed sessions above which the oldest half is summarised; 0 never.
    session_threshold: Annotated[int, Field(ge=0, le=100_000)]
    #: Turns that a running session holds before the oldest are summarised, and those that then stay; 0 never.
    running_turns: Annotated[int, Field(ge=0, le=10_000)]
    running_keep: Annotated[int, Field(ge=0, le=10_000)]
    #: Sentences of an extractive summary.
    summary_sentences: Annotated[int, Field(ge=1, le=20)]
    summary_importance: Share

    @property
    def range_turns(self) -> int:
        """Turns that one summary of a running session tells."""
        return max(self.running_turns - self.running_keep, 1)

    @model_validator(mode="after")
    def _leaves_some(self) -> Self:
        if 0 < self.running_turns <= self.running_keep:
            raise ValueError(f"running_keep is {self.running_keep}, and running_turns no more: {self.running_turns}")
        return self


class Prune(Table):
    """What is forgotten (Brain 4.4)."""

    #: Importance below which a memory may be forgotten.
    below: Share
    #: Days without access before it is.
    unaccessed_days: Days


class Recall(Table):
    """What is found and in which order (Brain 3, Contact 2.3, Logic 2, spec D1-D5)."""

    #: Candidates taken from each arm.
    candidates: Count
    top_k: Count
    token_budget: Tokens
    #: Less important memories are not recalled.
    min_importance: Share
    #: Cosine that a candidate of the dense arm needs; -1 takes all.
    min_similarity: Annotated[float, Field(ge=-1.0, le=1.0)]
    #: Which items are searched: raw turns, memories, or both.
    items: tuple[Literal["turn", "memory"], ...]
    #: Ranked candidates that come back to be fitted into the budget and explained.
    ranked: Count
    #: The best of them that a cross-encoder reads where one is set; 0: none.
    rerank_candidates: Annotated[int, Field(ge=0, le=1000)]
    #: Weight of its number, 0 to 1, which replaces the similarity and its weight.
    rerank_weight: Weight
    #: Days after which recency is 0.
    recency_days: Days
    #: Accesses at which access frequency is 1.
    access_cap: Count
    bm25_k1: Annotated[float, Field(ge=0.0, le=10.0)]
    bm25_b: Share
    #: What counts as speaking of oneself, as naming a time, as asking for what the assistant said.
    first_person: ColumnPattern
    names_time: ColumnPattern
    asks_assistant: Pattern
    weights: dict[str, Weight]

    @model_validator(mode="after")
    def _known_signals(self) -> Self:
        if unknown := [name for name in self.weights if name not in SIGNALS]:
            raise ValueError(f"weights has unknown signals {', '.join(unknown)}; known are {', '.join(SIGNALS)}")
        return self


class Cycle(Table):
    """When the tiers run (Brain 4, Contact 6.1)."""

    #: Hours between periodic cycles, counted from midnight UTC.
    hours: Annotated[int, Field(ge=1, le=24)]

    @property
    def period(self) -> timedelta:
        """Time between two cycles."""
        return timedelta(hours=self.hours)


class Queue(Table):
    """When the deferred tier works a session in; it goes quiet by `working_memory.idle_minutes`."""

    #: Minutes after its first waiting turn from which a session that never goes quiet is worked in all the same.
    max_wait_minutes: Annotated[float, Field(gt=0, le=1440)]
    #: Times that working a session in is tried before it becomes a dead letter.
    attempts: Annotated[int, Field(ge=1, le=100)]


class WorkingMemory(Table):
    """The sliding window of a session (Brain 5, Chat 1)."""

    turns: Count
    keep_first: bool
    ttl_hours: Annotated[float, Field(gt=0, le=8760)]
    #: Minutes of quiet after which a session is flushed and consolidated.
    idle_minutes: Annotated[float, Field(gt=0, le=1440)]
    #: Turns kept word for word when a full session is summarised (Chat flow 1).
    keep_verbatim: Count


class Context(Table):
    """An assembled context: in whose manner, and tokens of each section (Brain 6)."""

    #: The seed by which it is laid out; ours is Brain's manner with what the others know to add.
    form: Literal["brain", "contact", "agent", "logic", "chat", "reverie"]
    total: Tokens
    system: Tokens
    profile: Tokens
    memories: Tokens
    #: Of mood and adaptation (Contact 4.3), of identity, directives and artifacts (Agent 3.C).
    behavior: Tokens
    service_data: Tokens
    history: Tokens
    tools: Tokens
    #: For what joins the sections; what of it is left is safety.
    buffer: Tokens
    #: Turns of the history kept word for word when older ones are summarised.
    keep_verbatim: Count
    #: Sentences of the summary of older turns.
    summary_sentences: Annotated[int, Field(ge=1, le=20)]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        parts = ("system", "profile", "memories", "behavior", "service_data", "history", "tools", "buffer")
        if (together := sum(getattr(self, part) for part in parts)) > self.total:
            raise ValueError(f"the sections have {together} tokens together, and total is {self.total}")
        return self


class Relationship(Table):
    """From which session on a relationship has which stage, and what context it gets (Contact 5)."""

    building_sessions: Count
    established_sessions: Count
    deep_sessions: Count
    deep_streak_days: Count
    #: Tokens of memories for new, building, established and deep.
    tokens: tuple[Tokens, Tokens, Tokens, Tokens]
    #: Memories at most, for the same four.
    memories: tuple[Tokens, Tokens, Tokens, Tokens]


MoodStep = Literal["classifier", "previous", "keywords"]
MoodName = Literal[
    "happy", "sad", "anxious", "excited", "neutral", "angry", "frustrated", "flirty", "bored", "grateful"
]


class Mood(Table):
    """How the mood of a message is told (Contact 4.1), and what is read from moods and rhythms (Contact 4.2)."""

    #: Moods that a message can have; the others are never told, whatever a model or the classifier says.
    moods: tuple[MoodName, ...] = get_args(MoodName)
    #: Milliseconds that a language model has to answer.
    model_timeout_ms: Count
    #: Tried in this order when the model was late, and when it failed or there is none; neutral if none of them tells.
    after_late: tuple[MoodStep, ...]
    after_failure: tuple[MoodStep, ...]
    #: Latest messages of which the most frequent mood is the usual one, and how many there must be to tell.
    usual_messages: Count
    usual_least: Count
    #: Probability of its best mood below which the classifier passes.
    classifier_confidence: Share
    negative_messages: Count
    timing_share: Share
    timing_band_hours: Annotated[int, Field(ge=1, le=24)]
    timing_days: Count
    decline_share: Share
    decline_days: Count
    churn_step: Share

    @field_validator("moods")
    @classmethod
    def _with_neutral(cls, moods: tuple[MoodName, ...]) -> tuple[MoodName, ...]:
        if "neutral" not in moods:
            raise ValueError("neutral is one of them: it is the mood of a message that shows none")
        return tuple(mood for mood in get_args(MoodName) if mood in moods)

    @field_validator("after_late", "after_failure")
    @classmethod
    def _once(cls, steps: tuple[MoodStep, ...]) -> tuple[MoodStep, ...]:
        if len(set(steps)) < len(steps):
            raise ValueError("each step stands once")
        return steps


class Helpline(Table):
    """Whom a person in a crisis can turn to."""

    #: ISO 3166 code; None serves everywhere.
    country: Annotated[str, Field(pattern="^[A-Z]{2}$")] | None = None
    name: Annotated[str, Field(min_length=1, max_length=200)]
    #: A number to call, or a web address.
    contact: Annotated[str, Field(min_length=2, max_length=200)]


class Crisis(Table):
    """What happens when a message sounds like a crisis (Contact 4.2)."""

    #: Whether messages are read for it at all.
    detect: bool
    #: Whether such a message is flagged for a person to look at.
    review: bool
    #: Probability from which the classifier over the message's vector is a sign of its own; 1 leaves it out.
    vector_probability: Share
    #: Further signs, as patterns over lower-case text without apostrophes.
    phrases: tuple[Pattern, ...] = ()
    #: A deployment's own helplines; for the countries they name they stand instead of the shipped ones.
    helplines: tuple[Helpline, ...] = ()
    #: A deployment's own words instead of the shipped ones, in whatever language.
    message: Annotated[str, Field(max_length=2000)] = ""


class StructuredFacts(Table):
    """Which extractions become structured facts, and which are always recalled (Chat flows 2 and 3)."""

    min_confidence: Share
    min_importance: Share
    #: Confidence of a rule that names none of its own.
    rule_confidence: Share
    #: Those as important as this are always recalled.
    recall_importance: Share
    #: Summaries that a staged recall adds at most, and the cosine distance that they must stay under.
    summaries: Annotated[int, Field(ge=0, le=100)]
    summary_distance: Annotated[float, Field(ge=0.0, le=2.0)]
    #: Letters of a summary that a staged recall shows.
    summary_letters: Count


class Confidence(Table):
    """How sure an entry of the scaffold is by what it rests on, unless it says so itself."""

    correction: Share
    said: Share
    autonomous: Share
    inferred: Share


class Profile(Table):
    """The narrative and the scaffold of a subject (Agent 1.1, 5.1)."""

    narrative_words: Count
    #: Recent episodes, patterns and summaries that a narrative without a language model tells of.
    recent: Annotated[int, Field(ge=0, le=100)]
    #: Whether a language model is also told the facts, preferences and instructions that rules found in turns.
    from_memories: bool
    #: Observations that one request tells of; the rest waits for the next.
    observations: Annotated[int, Field(ge=1, le=1000)]
    #: Letters of an observation that it shows; longer entries of the scaffold are none.
    excerpt_letters: Count
    #: Keys from the outermost to the innermost; below them an object is a value.
    depth: Annotated[int, Field(ge=1, le=8)]
    #: Entries of the scaffold in force at a time.
    entries: Count
    #: Facts that one reply may give for memory.
    facts: Annotated[int, Field(ge=0, le=100)]
    #: Learned facts that a profile shows, the latest ones.
    learned: Annotated[int, Field(ge=0, le=1000)]
    #: Narratives that are kept, the one in force included.
    narratives: Count
    #: A narrative that was not rewritten for so long is no longer told.
    stale_days: Days
    confidence: Confidence
