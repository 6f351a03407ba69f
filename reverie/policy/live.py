"""Numbers of the tiers that serve a running conversation: its window, its context, moods, crises, profiles."""

from __future__ import annotations

from typing import Annotated, Literal, Self, get_args

from pydantic import Field, field_validator, model_validator

from reverie.policy.defaults import language_defaults
from reverie.policy.table import Count, Days, Regex, Share, Table, Tokens


class WorkingMemoryPolicy(Table):
    """The sliding window of a session (Brain 5, Chat 1)."""

    turns: Count = 20
    keep_first: bool = True
    ttl_hours: Annotated[float, Field(gt=0, le=8760)] = 24.0
    #: Minutes of quiet after which a session is flushed and consolidated.
    idle_minutes: Annotated[float, Field(gt=0, le=1440)] = 5.0
    #: Turns kept word for word when a full session is summarised (Chat flow 1).
    keep_verbatim: Count = 4
    #: Phrases of what is about now; said within `ttl_hours`, it is working memory (Logic 1.6).
    about_now: tuple[str, ...] = tuple(language_defaults("live")["about_now"])
    #: Hours after which the cached tools of a connection are out of date, unless the caller says so (Agent 3.E).
    tools_ttl_hours: Annotated[float, Field(gt=0, le=8760)] = 24.0


class ContextPolicy(Table):
    """An assembled context: in whose manner, and tokens of each section (Brain 6)."""

    #: The seed by which it is laid out; ours is Brain's manner with what the others know to add.
    form: Literal["brain", "contact", "agent", "logic", "chat", "reverie"] = "reverie"
    total: Tokens = 8000
    system: Tokens = 500
    profile: Tokens = 200
    memories: Tokens = 1500
    #: Of mood and adaptation (Contact 4.3), of identity, directives and artifacts (Agent 3.C).
    behavior: Tokens = 0
    service_data: Tokens = 2000
    history: Tokens = 2000
    tools: Tokens = 1500
    #: For what joins the sections; what of it is left is safety.
    buffer: Tokens = 300
    #: Turns of the history kept word for word when older ones are summarised.
    keep_verbatim: Count = 4
    #: Sentences of the summary of older turns.
    summary_sentences: Annotated[int, Field(ge=1, le=20)] = 3

    @model_validator(mode="after")
    def _fits(self) -> Self:
        parts = ("system", "profile", "memories", "behavior", "service_data", "history", "tools", "buffer")
        if (together := sum(getattr(self, part) for part in parts)) > self.total:
            raise ValueError(f"the sections add up to {together} tokens, more than the total of {self.total}")
        return self


RelationshipStage = Literal["new", "building", "established", "deep"]


class RelationshipPolicy(Table):
    """From which session on a relationship has which stage, and what context it gets (Contact 5)."""

    building_sessions: Count = 3
    established_sessions: Count = 15
    deep_sessions: Count = 30
    deep_streak_days: Count = 14
    #: Tokens of memories for new, building, established and deep.
    tokens: tuple[Tokens, Tokens, Tokens, Tokens] = (0, 500, 1200, 2000)
    #: Memories at most, for the same four.
    memories: tuple[Tokens, Tokens, Tokens, Tokens] = (0, 8, 15, 20)

    def stage(self, sessions: int, streak: int) -> RelationshipStage:
        """Return the stage after so many sessions, at a streak of so many days (Contact 5.1 to 5.4)."""
        if sessions >= self.deep_sessions and streak >= self.deep_streak_days:
            return "deep"
        if sessions >= self.established_sessions:
            return "established"
        return "building" if sessions >= self.building_sessions else "new"


class StylePolicy(Table):
    """How the style in which a subject writes is told to who answers it (`reverie/recall/contexts/adaptation.py`)."""

    #: Latest days that count, and messages within them below which nothing is told.
    days: Days = 28.0
    messages: Count = 10
    #: Mean words of a message up to which messages are short, and from which they are long.
    short_words: Count = 8
    long_words: Count = 25
    #: Share of messages with capital letter and full stop up to which a style is informal, and from which it is formal.
    informal: Share = 0.4
    formal: Share = 0.8
    #: Share of messages with an emoji from which a style has emoji; below a tenth of it, it has none.
    emoji: Share = 0.2


MoodPromptName = Literal["mood", "mood_seed"]
MoodStep = Literal["classifier", "previous", "keywords"]
MoodName = Literal[
    "happy", "sad", "anxious", "excited", "neutral", "angry", "frustrated", "flirty", "bored", "grateful"
]


class MoodPolicy(Table):
    """How the mood of a message is told (Contact 4.1), and what is read from moods and rhythms (Contact 4.2)."""

    #: Moods that a message can have; the others are never told, whatever a model or the classifier says.
    moods: tuple[MoodName, ...] = get_args(MoodName)
    #: What a language model is asked: the file of `prompts/`.
    prompt: MoodPromptName = "mood"
    #: Milliseconds that a language model has to answer.
    model_timeout_ms: Count = 200
    #: Tried in this order when the model was late, and when it failed or there is none; neutral if none of them tells.
    after_late: tuple[MoodStep, ...] = ("previous", "keywords")
    after_failure: tuple[MoodStep, ...] = ("keywords",)
    #: Latest messages of which the most frequent mood is the usual one, and how many there must be to tell.
    usual_messages: Count = 50
    usual_least: Count = 10
    #: Probability of its best mood below which the classifier passes.
    classifier_confidence: Share = 1.0
    #: Negative messages in a row that are a difficult period.
    negative_messages: Count = 3
    #: Share of the messages of so many days that fall into a band of so many hours: the usual hours.
    timing_share: Share = 0.7
    timing_band_hours: Annotated[int, Field(ge=1, le=24)] = 2
    timing_days: Count = 14
    #: Drop of messages a session over so many days that adds `churn_step` to the churn risk.
    decline_share: Share = 0.5
    decline_days: Count = 7
    churn_step: Share = 0.2

    @field_validator("moods")
    @classmethod
    def _with_neutral(cls, moods: tuple[MoodName, ...]) -> tuple[MoodName, ...]:
        if "neutral" not in moods:
            raise ValueError("neutral must be included: it is the mood of a message that shows none")
        return tuple(mood for mood in get_args(MoodName) if mood in moods)

    @field_validator("after_late", "after_failure")
    @classmethod
    def _once(cls, steps: tuple[MoodStep, ...]) -> tuple[MoodStep, ...]:
        if len(set(steps)) < len(steps):
            raise ValueError("each step may occur only once")
        return steps


class Helpline(Table):
    """Whom a person in a crisis can turn to."""

    #: ISO 3166 code; None serves everywhere.
    country: Annotated[str, Field(pattern="^[A-Z]{2}$")] | None = None
    name: Annotated[str, Field(min_length=1, max_length=200)]
    #: A number to call, or a web address.
    contact: Annotated[str, Field(min_length=2, max_length=200)]


class CrisisPolicy(Table):
    """What happens when a message sounds like a crisis (Contact 4.2)."""

    #: Whether messages are read for it at all.
    detect: bool = True
    #: Whether such a message is flagged for a person to look at.
    review: bool = False
    #: Probability from which the classifier over the message's vector is a sign of its own; 1 leaves it out.
    vector_probability: Share = 1.0
    #: Probability by a stored vector with the speaker's name, or of a part, from which a message is embedded again.
    embed_again_probability: Share = 0.02
    #: Further signs, as patterns over lower-case text without apostrophes.
    phrases: tuple[Regex, ...] = ()
    #: A deployment's own helplines; for the countries they name they stand instead of the shipped ones.
    helplines: tuple[Helpline, ...] = ()
    #: A deployment's own words instead of the shipped ones, in whatever language.
    message: Annotated[str, Field(max_length=2000)] = ""


class ConfidencePolicy(Table):
    """How sure an entry of the scaffold is by what it rests on, unless it says so itself."""

    correction: Share = 1.0
    said: Share = 0.9
    autonomous: Share = 0.7
    inferred: Share = 0.5


class ProfilePolicy(Table):
    """The narrative and the scaffold of a subject (Agent 1.1, 5.1)."""

    narrative_words: Count = 500
    #: Recent episodes, patterns and summaries that a narrative without a language model tells of.
    recent: Annotated[int, Field(ge=0, le=100)] = 5
    #: Preferences that no structured fact tells, as sure as `[extract.reader] confidence`: what is disliked first, then
    #: the most important.
    preferences: Annotated[int, Field(ge=0, le=100)] = 0
    #: Whether a language model is also told the facts, preferences and instructions that rules found in turns.
    from_memories: bool = False
    #: Observations that one request tells of; the rest waits for the next.
    observations: Annotated[int, Field(ge=1, le=1000)] = 50
    #: Letters of an observation that it shows; longer entries of the scaffold are none.
    excerpt_letters: Count = 1000
    #: Keys from the outermost to the innermost; below them an object is a value.
    depth: Annotated[int, Field(ge=1, le=8)] = 4
    #: Entries of the scaffold in force at a time.
    entries: Count = 200
    #: Facts that one reply may give for memory.
    facts: Annotated[int, Field(ge=0, le=100)] = 10
    #: Learned facts that a profile shows, the latest ones.
    learned: Annotated[int, Field(ge=0, le=1000)] = 20
    #: Narratives that are kept, the one in force included.
    narratives: Count = 10
    #: A narrative that was not rewritten for so long is no longer told.
    stale_days: Days = 90.0
    confidence: ConfidencePolicy = ConfidencePolicy()
