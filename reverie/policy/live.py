"""The headings for a running conversation: its window, its context, moods, crises and profiles."""

from __future__ import annotations

from typing import Annotated, Literal, Self, get_args

from pydantic import Field, field_validator, model_validator

from reverie.policy.defaults import language_defaults
from reverie.policy.table import Count, Days, Regex, Share, Table, Tokens


class WorkingMemoryPolicy(Table):
    """The sliding window of a session (Brain 5, Chat 1)."""

    #: Turns in the window.
    turns: Count = 20
    #: Whether the first turn of the session stays in the window.
    keep_first: bool = True
    #: Hours after the last turn of a session for which its working memory is kept.
    ttl_hours: Annotated[float, Field(gt=0, le=8760)] = 24.0
    #: Minutes of quiet after which a session is flushed and consolidated.
    idle_minutes: Annotated[float, Field(gt=0, le=1440)] = 5.0
    #: Phrases about the present; a memory with one, said within `ttl_hours`, is working memory (Logic 1.6).
    about_now: tuple[str, ...] = tuple(language_defaults("live")["about_now"])
    #: Hours after which the cached tools of a connection are out of date, unless the caller sets a time (Agent 3.E).
    tools_ttl_hours: Annotated[float, Field(gt=0, le=8760)] = 24.0


class ContextPolicy(Table):
    """The form of a context, and the tokens of each section (Brain 6)."""

    #: Layout: that of one of the seeds, or ours, which is Brain's with additions from the others.
    form: Literal["brain", "contact", "agent", "logic", "chat", "reverie"] = "reverie"
    total: Tokens = 8000
    system: Tokens = 500
    profile: Tokens = 200
    memories: Tokens = 1500
    #: Tokens for mood and adaptation (Contact 4.3), and for identity, directives and artifacts (Agent 3.C).
    behavior: Tokens = 0
    service_data: Tokens = 2000
    history: Tokens = 2000
    tools: Tokens = 1500
    #: Tokens for the text between the sections; the rest is a safety margin.
    buffer: Tokens = 300
    #: Turns of the history kept word for word when older ones are summarised.
    keep_verbatim: Count = 4
    #: Maximum number of sentences in the summary of older turns.
    summary_sentences: Annotated[int, Field(ge=1, le=20)] = 3

    @model_validator(mode="after")
    def _fits(self) -> Self:
        parts = ("system", "profile", "memories", "behavior", "service_data", "history", "tools", "buffer")
        if (together := sum(getattr(self, part) for part in parts)) > self.total:
            raise ValueError(f"the sections add up to {together} tokens, more than the total of {self.total}")
        return self


RelationshipStage = Literal["new", "building", "established", "deep"]


class RelationshipPolicy(Table):
    """The stages of a relationship: the session at which each begins, and the memories in its contexts (Contact 5)."""

    building_sessions: Count = 3
    established_sessions: Count = 15
    deep_sessions: Count = 30
    deep_streak_days: Count = 14
    #: Tokens of memories in the stages new, building, established and deep.
    tokens: tuple[Tokens, Tokens, Tokens, Tokens] = (0, 500, 1200, 2000)
    #: Maximum number of memories in the same four stages.
    memories: tuple[Tokens, Tokens, Tokens, Tokens] = (0, 8, 15, 20)

    def stage(self, sessions: int, streak: int) -> RelationshipStage:
        """Return the stage after a number of sessions, with a streak of a number of days (Contact 5.1 to 5.4)."""
        if sessions >= self.deep_sessions and streak >= self.deep_streak_days:
            return "deep"
        if sessions >= self.established_sessions:
            return "established"
        return "building" if sessions >= self.building_sessions else "new"


class StylePolicy(Table):
    """The description of a subject's style of writing in a context (`reverie/recall/contexts/adaptation.py`)."""

    #: Number of the latest days that count.
    days: Days = 28.0
    #: Minimum number of messages within these days to describe a style.
    messages: Count = 10
    #: Mean words per message up to which messages are short.
    short_words: Count = 8
    #: Mean words per message from which messages are long.
    long_words: Count = 25
    #: Share of messages with a capital letter and a full stop up to which the style is informal.
    informal: Share = 0.4
    #: Share of such messages from which the style is formal.
    formal: Share = 0.8
    #: Share of messages with an emoji from which the style has emoji; below a tenth of this share, it has none.
    emoji: Share = 0.2


MoodPromptName = Literal["mood", "mood_seed"]
MoodStep = Literal["classifier", "previous", "keywords"]
MoodName = Literal[
    "happy", "sad", "anxious", "excited", "neutral", "angry", "frustrated", "flirty", "bored", "grateful"
]


class MoodPolicy(Table):
    """The mood of a message (Contact 4.1), and patterns in moods and rhythms (Contact 4.2)."""

    #: Moods that a message can have; others are never given, whatever a model or the classifier finds.
    moods: tuple[MoodName, ...] = get_args(MoodName)
    #: Prompt for a language model: its file in `prompts/`.
    prompt: MoodPromptName = "mood"
    #: Milliseconds within which a language model must answer.
    model_timeout_ms: Count = 200
    #: Fallbacks if the model is late, in order; the mood is neutral if none gives one.
    after_late: tuple[MoodStep, ...] = ("previous", "keywords")
    #: Fallbacks if the model fails or there is none.
    after_failure: tuple[MoodStep, ...] = ("keywords",)
    #: Number of the latest messages whose most frequent mood is the usual one.
    usual_messages: Count = 50
    #: Minimum number of messages to give a usual mood.
    usual_least: Count = 10
    #: Minimum probability of the classifier's best mood; below it, the next fallback is tried.
    classifier_confidence: Share = 1.0
    #: Number of negative messages in a row that make a difficult period.
    negative_messages: Count = 3
    #: Share of the messages of `timing_days` that must fall into a band of hours for it to be the usual hours.
    timing_share: Share = 0.7
    #: Length of the band of usual hours.
    timing_band_hours: Annotated[int, Field(ge=1, le=24)] = 2
    #: Number of days whose messages are counted for the usual hours.
    timing_days: Count = 14
    #: Drop of messages per session, as a share, that counts as a decline.
    decline_share: Share = 0.5
    #: Number of days that are compared with as many days before them.
    decline_days: Count = 7
    #: Churn risk that a decline adds.
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
    """A helpline for a person in a crisis."""

    #: ISO 3166 code of its country; without one, it serves everywhere.
    country: Annotated[str, Field(pattern="^[A-Z]{2}$")] | None = None
    name: Annotated[str, Field(min_length=1, max_length=200)]
    #: Phone number or web address.
    contact: Annotated[str, Field(min_length=2, max_length=200)]


class CrisisPolicy(Table):
    """Detection of crisis language in messages, and the answer to it (Contact 4.2)."""

    #: Whether messages are checked for crisis language.
    detect: bool = True
    #: Whether such a message is flagged for review by a person.
    review: bool = False
    #: Probability from which the classifier over the message's vector counts as a sign; 1: it is not used.
    vector_probability: Share = 1.0
    #: Probability from which a message is embedded again, if its vector includes a name or covers only a part of it.
    embed_again_probability: Share = 0.005
    #: Further signs, as patterns for lower-case text without apostrophes.
    phrases: tuple[Regex, ...] = ()
    #: Your own helplines; they replace the shipped ones for the countries that they name.
    helplines: tuple[Helpline, ...] = ()
    #: Your own message, in any language, in place of the shipped one.
    message: Annotated[str, Field(max_length=2000)] = ""


class ConfidencePolicy(Table):
    """Confidence of a scaffold entry by its source, unless the entry states one."""

    correction: Share = 1.0
    said: Share = 0.9
    autonomous: Share = 0.7
    inferred: Share = 0.5


class ProfilePolicy(Table):
    """The narrative and the scaffold of a subject (Agent 1.1, 5.1)."""

    #: Maximum number of words of a narrative.
    narrative_words: Count = 500
    #: Number of recent episodes, patterns and summaries in a narrative that no language model wrote.
    recent: Annotated[int, Field(ge=0, le=100)] = 5
    #: Preferences that no structured fact has, with at least the confidence `[extract.reader] confidence`: dislikes
    #: first, then the most important.
    preferences: Annotated[int, Field(ge=0, le=100)] = 0
    #: Other lasting facts and rules that no structured fact has, such as those in a person's own words.
    statements: Annotated[int, Field(ge=0, le=100)] = 0
    #: Days for which an episode is recent; 0: always.
    recent_days: Days = 0.0
    #: Whether a language model is also given the facts, preferences and instructions that rules found in turns.
    from_memories: bool = False
    #: Maximum number of observations in one request to a language model; the rest wait for the next.
    observations: Annotated[int, Field(ge=1, le=1000)] = 50
    #: Maximum number of letters of an observation in a request; longer text is no entry of the scaffold.
    excerpt_letters: Count = 1000
    #: Maximum number of nested keys of an entry; below them an object is a value.
    depth: Annotated[int, Field(ge=1, le=8)] = 4
    #: Maximum number of entries of the scaffold in force at a time.
    entries: Count = 200
    #: Maximum number of facts from one reply of a language model.
    facts: Annotated[int, Field(ge=0, le=100)] = 10
    #: Number of the latest learned facts in a profile.
    learned: Annotated[int, Field(ge=0, le=1000)] = 20
    #: Number of narratives that are kept, including the one in force.
    narratives: Count = 10
    #: Days after which a narrative that was not rewritten is no longer shown.
    stale_days: Days = 90.0
    confidence: ConfidencePolicy = ConfidencePolicy()
