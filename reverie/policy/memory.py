"""The headings of the periodic stages: when they run, what they merge, how memories fade, what is forgotten."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from reverie.model import KINDS, Kind
from reverie.policy.table import Days, Share, Table


def _divides_a_day(hours: int) -> int:
    if 24 % hours:
        raise ValueError("must divide 24, as cycles are counted from midnight")
    return hours


class CyclePolicy(Table):
    """The schedule of the tiers (Brain 4, Contact 6.1)."""

    #: Hours between periodic cycles, counted from midnight UTC; a divisor of 24.
    hours: Annotated[int, Field(ge=1, le=24), AfterValidator(_divides_a_day)] = 6

    @property
    def period(self) -> timedelta:
        """The time between two cycles."""
        return timedelta(hours=self.hours)


class ChunkPolicy(Table):
    """The size of the chunks of long texts (Logic 1.3)."""

    min_tokens: Annotated[int, Field(ge=1, le=10_000)] = 50
    max_tokens: Annotated[int, Field(ge=2, le=10_000)] = 300

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.min_tokens > self.max_tokens:
            raise ValueError(f"min_tokens ({self.min_tokens}) must not exceed max_tokens ({self.max_tokens})")
        return self


class ImportancePolicy(Table):
    """The importance of a new memory (Brain 4, Contact 2.2, Logic 1.5)."""

    #: `kind`: by the table of `[extract]`. `novelty_salience`: novelty_weight * novelty + salience_weight * salience.
    mode: Literal["kind", "novelty_salience"] = "kind"
    novelty_weight: Share = 0.6
    salience_weight: Share = 0.4
    #: Importance below which a candidate is discarded and counted; 0: all are kept.
    threshold: Share = 0.0
    #: Added if the decision behind a memory had a positive outcome (Brain 4.3).
    outcome_boost: Share = 0.0


class MergePolicy(Table):
    """The merging of two memories of the same subject and kind (Brain 4.3, Contact 3.2)."""

    #: Cosine above which they merge, unless polarity, numbers or names differ.
    threshold: Annotated[float, Field(ge=0.5, le=1.0)] = 0.999
    #: Cosine above which pairs are compared by their statements and a classifier (`consolidate/merge/same.py`) instead
    #: of `threshold` and contradiction; none: never.
    near: Annotated[float, Field(ge=0.5, le=1.0)] | None = None
    #: Probability from which the classifier merges a pair.
    probability: Share = 0.5
    #: Added to the importance of the survivor, up to 1.0.
    reinforce: Share = 0.0
    #: Kinds that are merged.
    kinds: tuple[Kind, ...] = ("fact", "preference", "instruction", "episode", "pattern", "summary")
    #: Number of recent memories with which a request compares its new candidates (Contact 3.2); 0: none.
    recent: Annotated[int, Field(ge=0, le=1000)] = 0


def _of_every_kind(rates: Any) -> Any:
    return dict.fromkeys(KINDS, 0.0) | rates if isinstance(rates, dict) else rates


class DecayPolicy(Table):
    """The decay of importance without access (Brain 4.4, Contact 2.2)."""

    #: Days without access before decay begins.
    grace_days: Days = 0.0
    #: Importance lost per day after that, by kind; 0 for a kind that is not named.
    rates: Annotated[dict[Kind, Share], BeforeValidator(_of_every_kind)] = Field(default_factory=dict)


class SummaryPolicy(Table):
    """The choice of sentences in an extractive summary; fitted on part of LoCoMo dev (bench/summaries.py)."""

    #: Minimum number of content words of a sentence; a name counts twice.
    least_terms: Annotated[int, Field(ge=1, le=100)] = 3
    #: Characters above which a sentence counts as a list or code and is not chosen.
    longest: Annotated[int, Field(ge=20, le=10_000)] = 240
    #: Power of its length by which a sentence's coverage is divided.
    brevity: Share = 0.1
    #: Characters that count as the length of a shorter sentence.
    short: Annotated[int, Field(ge=1, le=1000)] = 60
    #: Factor for a sentence that is not in the first person.
    general: Share = 0.5
    #: Added to a sentence's factor, which is 1 at first, for a salience of 1.
    salience: Annotated[float, Field(ge=0, le=10)] = 1.2
    #: Added to the factor for the first turn of a session, falling to 0 for the last.
    early: Annotated[float, Field(ge=0, le=10)] = 0.5
    #: Factor for each word in a sentence that addresses the listener.
    addressed: Share = 0.5
    #: Factor for each pronoun in a sentence.
    pronoun: Share = 0.7
    #: Factor for a sentence of a speaker who already has one in the summary.
    heard: Share = 0.6
    #: Share of a content word's weight that counts once a chosen sentence has the word.
    repeated: Share = 0.2
    #: Share of the best sentence's gain that another sentence needs to be chosen.
    least_gain: Share = 0.2
    #: Share of the shorter sentence's content words above which two sentences say the same.
    same: Share = 0.7


class CompressPolicy(Table):
    """Patterns of episodes, and summaries of sessions (Brain 4.4, Contact 6.2, Logic 3, Chat flow 1)."""

    #: Number of episodes on one theme that make a pattern; 0: no patterns are made.
    pattern_episodes: Annotated[int, Field(ge=0, le=1000)] = 0
    #: Number of episodes from which turns on a theme that gave no episode count as well.
    theme_episodes: Annotated[int, Field(ge=1, le=1000)] = 1000
    #: Minimum cosine of an episode to the centre of its theme.
    theme_similarity: Share = 1.0
    #: Ratio of the means of two groups from which a pattern quantifies the difference.
    contrast_ratio: Annotated[float, Field(ge=1.0, le=100.0)] = 1.0
    pattern_importance: Share = 0.8
    #: Number of sessions without a summary above which the half that ended first is summarised; 0: never.
    session_threshold: Annotated[int, Field(ge=0, le=100_000)] = 0
    #: Turns of a running session from which the oldest are summarised; 0: never.
    running_turns: Annotated[int, Field(ge=0, le=10_000)] = 0
    #: Number of the latest turns of a running session that stay without a summary.
    running_keep: Annotated[int, Field(ge=0, le=10_000)] = 10
    #: Maximum number of sentences of an extractive summary.
    summary_sentences: Annotated[int, Field(ge=1, le=20)] = 3
    summary_importance: Share = 0.6
    #: Whether the summaries of sessions fold into one of their month, and those of months into one of their year.
    fold_summaries: bool = False
    #: Whether the summaries of sessions fold into one of their week first.
    fold_weeks: bool = False
    #: Months, besides the latest, that keep summaries of their own before these fold into their year's.
    fold_months: Annotated[int, Field(ge=0, le=12)] = 12
    #: Maximum number of sentences of a folded summary.
    fold_sentences: Annotated[int, Field(ge=1, le=100)] = 8
    #: Prompt for summaries by a language model: ours, or Logic's own.
    summary_prompt: Literal["compress", "compress_logic"] = "compress"
    summary: SummaryPolicy = SummaryPolicy()

    @property
    def range_turns(self) -> int:
        """The number of turns in one summary of a running session."""
        return max(self.running_turns - self.running_keep, 1)

    @model_validator(mode="after")
    def _leaves_some(self) -> Self:
        if 0 < self.running_turns <= self.running_keep:
            raise ValueError(
                f"running_keep ({self.running_keep}) must be less than running_turns ({self.running_turns})"
            )
        return self


def _worth_of_every_kind(worths: Any) -> Any:
    return dict.fromkeys(KINDS, 1.0) | worths if isinstance(worths, dict) else worths


class PrunePolicy(Table):
    """The forgetting of memories (Brain 4.4)."""

    #: Importance below which a memory may be forgotten.
    below: Share = 0.0
    #: Days without access before it is forgotten.
    unaccessed_days: Days = 36_500.0
    #: Days since the last access on which the subject must have said something before a faded memory is forgotten; 0:
    #: the calendar alone decides.
    active_days: Annotated[int, Field(ge=0, le=1000)] = 0
    #: Days after which an expired memory is forgotten; it is not recalled once it has expired.
    expired_days: Days = 30.0
    #: Minimum number of days for which a superseded lasting memory is kept, such as a former home or job.
    history_days: Days = 3650.0
    #: Maximum number of active memories of a subject; each cycle forgets the least valuable beyond it; 0: no limit.
    budget: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    #: Factor of importance under the budget, by kind; 1 for a kind that is not named.
    worth: Annotated[dict[Kind, Share], BeforeValidator(_worth_of_every_kind)] = Field(
        default_factory=lambda: dict.fromkeys(KINDS, 1.0)
    )
    #: Further factor for a memory kept in the words of the message because its reading is unsure.
    worth_said: Share = 1.0
    #: Further factor for a confidence below `[extract.reader] confidence`, unless a language model agrees.
    worth_unsure: Share = 1.0
    #: Further factor for a memory that adds nothing: the end of a value that stays ended without it, or an unsure
    #: reading, in the words of the message, of a message that a pattern counts.
    worth_told: Share = 1.0


class QueuePolicy(Table):
    """The queue of the deferred tier; a session is quiet after `working_memory.idle_minutes`."""

    #: Minutes after its first waiting turn from which a session is processed even if it is not quiet.
    max_wait_minutes: Annotated[float, Field(gt=0, le=1440)] = 30.0
    #: Attempts to process a session before it becomes a dead letter.
    attempts: Annotated[int, Field(ge=1, le=100)] = 5
