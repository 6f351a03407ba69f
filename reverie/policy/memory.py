"""Numbers of the periodic stages: when they run, what they merge, how memories fade, what is forgotten."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from reverie.model import KINDS, Kind
from reverie.policy.table import Days, Share, Table


class CyclePolicy(Table):
    """When the tiers run (Brain 4, Contact 6.1)."""

    #: Hours between periodic cycles, counted from midnight UTC.
    hours: Annotated[int, Field(ge=1, le=24)] = 6

    @property
    def period(self) -> timedelta:
        """Time between two cycles."""
        return timedelta(hours=self.hours)


class ChunkPolicy(Table):
    """Into what pieces long texts are cut (Logic 1.3)."""

    min_tokens: Annotated[int, Field(ge=1, le=10_000)] = 50
    max_tokens: Annotated[int, Field(ge=2, le=10_000)] = 300


class ImportancePolicy(Table):
    """How important a new memory is (Brain 4, Contact 2.2, Logic 1.5)."""

    #: `kind`: by the table of `[extract]`. `novelty_salience`: novelty_weight * novelty + salience_weight * salience.
    mode: Literal["kind", "novelty_salience"] = "kind"
    novelty_weight: Share = 0.6
    salience_weight: Share = 0.4
    #: Less important than this is discarded and counted; 0 keeps all.
    threshold: Share = 0.0
    #: Gained when the decision a memory is tied to had a positive outcome (Brain 4.3).
    outcome_boost: Share = 0.0


class MergePolicy(Table):
    """When two memories of a subject and kind are one (Brain 4.3, Contact 3.2)."""

    #: Cosine above which they merge, unless polarity, numbers or names differ.
    threshold: Annotated[float, Field(ge=0.5, le=1.0)] = 0.999
    #: Cosine above which pairs are compared by what they state and by a classifier (`consolidate/merge/same.py`), and
    #: not by `threshold` and `contradiction`; None: not.
    near: Annotated[float, Field(ge=0.5, le=1.0)] | None = None
    #: Chance of being the same from which the classifier merges a pair.
    probability: Share = 0.5
    #: Gained by the survivor, at most to 1.0.
    reinforce: Share = 0.0
    #: Kinds that are merged.
    kinds: tuple[Kind, ...] = ("fact", "preference", "instruction", "episode", "pattern", "summary")
    #: Most recent memories that a request compares its new candidates with (Contact 3.2); 0: none.
    recent: Annotated[int, Field(ge=0, le=1000)] = 0


def _of_every_kind(rates: Any) -> Any:
    return dict.fromkeys(KINDS, 0.0) | rates if isinstance(rates, dict) else rates


class DecayPolicy(Table):
    """How importance fades when nobody asks (Brain 4.4, Contact 2.2)."""

    #: Days without access before decay begins.
    grace_days: Days = 0.0
    #: Importance lost a day after that, by kind; a kind that is not named loses none.
    rates: Annotated[dict[Kind, Share], BeforeValidator(_of_every_kind)] = Field(default_factory=dict)


class SummaryPolicy(Table):
    """By what an extractive summary chooses its sentences; fitted on part of LoCoMo dev (bench/summaries.py)."""

    #: Content words that a sentence needs to be worth telling; a name counts twice.
    least_terms: Annotated[int, Field(ge=1, le=100)] = 3
    #: Characters above which a sentence is a list or code, and not chosen.
    longest: Annotated[int, Field(ge=20, le=10_000)] = 240
    #: Power of its length by which a sentence's coverage is divided, and the length that counts at least.
    brevity: Share = 0.1
    short: Annotated[int, Field(ge=1, le=1000)] = 60
    #: Factor for a sentence that is not in the first person.
    general: Share = 0.5
    #: Added to the factor 1 of a sentence for a salience of 1.
    salience: Annotated[float, Field(ge=0, le=10)] = 1.2
    #: Added for the first turn of a session, falling to 0 for the last.
    early: Annotated[float, Field(ge=0, le=10)] = 0.5
    #: Factors for each word that addresses the listener, and for each pronoun.
    addressed: Share = 0.5
    pronoun: Share = 0.7
    #: Factor for a sentence of a speaker who has one in the summary already.
    heard: Share = 0.6
    #: Share of a content word's weight that counts once another chosen sentence has it.
    repeated: Share = 0.2
    #: Share of the best sentence's gain that another needs to be told too.
    least_gain: Share = 0.2
    #: Share of the shorter sentence's content words above which two sentences say the same.
    same: Share = 0.7


class CompressPolicy(Table):
    """When episodes become patterns and sessions summaries (Brain 4.4, Contact 6.2, Logic 3, Chat flow 1)."""

    #: Episodes on one theme that make a pattern; 0 makes none.
    pattern_episodes: Annotated[int, Field(ge=0, le=1000)] = 0
    #: Of these, episodes that a theme needs where turns count as well of which no episode was made.
    theme_episodes: Annotated[int, Field(ge=1, le=1000)] = 1000
    #: Cosine to the theme's centre that an episode needs to belong to it.
    theme_similarity: Share = 1.0
    #: Ratio of two groups' means from which a pattern quantifies the difference.
    contrast_ratio: Annotated[float, Field(ge=1.0, le=100.0)] = 1.0
    pattern_importance: Share = 0.8
    #: Uncompressed sessions above which the oldest half is summarised; 0 never.
    session_threshold: Annotated[int, Field(ge=0, le=100_000)] = 0
    #: Turns that a running session holds before the oldest are summarised, and those that then stay; 0 never.
    running_turns: Annotated[int, Field(ge=0, le=10_000)] = 0
    running_keep: Annotated[int, Field(ge=0, le=10_000)] = 10
    #: Sentences of an extractive summary.
    summary_sentences: Annotated[int, Field(ge=1, le=20)] = 3
    summary_importance: Share = 0.6
    #: Whether summaries of sessions become one of their month, and those of months one of their year.
    fold_summaries: bool = False
    #: Whether those of sessions become one of their week first.
    fold_weeks: bool = False
    #: Months that keep summaries of their own beside the latest one, before they become part of their year's.
    fold_months: Annotated[int, Field(ge=0, le=12)] = 12
    #: Sentences of such a summary.
    fold_sentences: Annotated[int, Field(ge=1, le=100)] = 8
    #: Prompt of summaries by a language model: ours, or Logic's own words.
    summary_prompt: Literal["compress", "compress_logic"] = "compress"
    summary: SummaryPolicy = SummaryPolicy()

    @property
    def range_turns(self) -> int:
        """Turns that one summary of a running session tells."""
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
    """What is forgotten (Brain 4.4)."""

    #: Importance below which a memory may be forgotten.
    below: Share = 0.0
    #: Days without access before it is.
    unaccessed_days: Days = 36_500.0
    #: Days on which its subject said something, since it was last accessed, before a faded memory is forgotten; 0: the
    #: calendar alone decides.
    active_days: Annotated[int, Field(ge=0, le=1000)] = 0
    #: Days after which a memory that has ended by its own time is forgotten; it is not recalled from its end on.
    expired_days: Days = 30.0
    #: Days for which what lasted, a home or a job, is at least kept after it was superseded.
    history_days: Days = 3650.0
    #: Active memories that a subject has at most: at each cycle the least valuable beyond are forgotten; 0: no limit.
    budget: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    #: Factor of a memory's importance where the budget decides, by kind; 1 for a kind that is not named.
    worth: Annotated[dict[Kind, Share], BeforeValidator(_worth_of_every_kind)] = Field(
        default_factory=lambda: dict.fromkeys(KINDS, 1.0)
    )
    #: The same for what was kept in its own words because its reading is unsure, on top of that of its kind.
    worth_said: Share = 1.0
    #: The same for what the reader is less sure of than `[extract.reader] confidence`, unless a language model agrees.
    worth_unsure: Share = 1.0
    #: The same for what stands without it: an end of something that is there and stays ended, and an unsure reading in
    #: own words of a message that a pattern counts.
    worth_told: Share = 1.0


class QueuePolicy(Table):
    """When the deferred tier works a session in; it goes quiet by `working_memory.idle_minutes`."""

    #: Minutes after its first waiting turn from which a session that never goes quiet is worked in all the same.
    max_wait_minutes: Annotated[float, Field(gt=0, le=1440)] = 30.0
    #: Times that working a session in is tried before it becomes a dead letter.
    attempts: Annotated[int, Field(ge=1, le=100)] = 5
