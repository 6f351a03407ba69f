"""The numbers and choices by which memory is made, read from a TOML file and checked.

Five shipped policies hold the numbers of the five seeds; the sixth, `reverie`, is our own and the default.
A user copies one, changes it and passes its path.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from datetime import timedelta
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from reverie.errors import PolicyError
from reverie.cues.table import Extract, Salience
from reverie.model import KINDS, Kind

Share = Annotated[float, Field(ge=0.0, le=1.0)]
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
Tokens = Annotated[int, Field(ge=0, le=1_000_000)]

#: The signals recall can weigh, in the order in which `sql/queries/recall.sql` measures them.
SIGNALS = (
    "similarity",
    "lexical",
    "answers",
    "session_similarity",
    "session_lexical",
    "speaker",
    "date",
    "first_person",
    "names_time",
    "when",
    "asks",
    "length",
    "assistant",
    "asked_assistant",
    "memory",
    "recency",
    "importance",
    "access",
    "entity",
)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Importance(_Part):
    """How important a new memory is (Brain 4, Contact 2.2, Logic 1.5)."""

    #: `kind`: by the table of `[extract]`. `novelty_salience`: novelty_weight * novelty + salience_weight * salience.
    mode: Literal["kind", "novelty_salience"]
    novelty_weight: Share
    salience_weight: Share
    #: Less important than this is discarded and counted; 0 keeps all.
    threshold: Share
    #: Gained when the decision a memory is tied to had a positive outcome (Brain 4.3).
    outcome_boost: Share


class Chunking(_Part):
    """Into what pieces long texts are cut (Logic 1.3)."""

    min_tokens: Annotated[int, Field(ge=1, le=10_000)]
    max_tokens: Annotated[int, Field(ge=2, le=10_000)]


class Merge(_Part):
    """When two memories of a subject and kind are one (Brain 4.3, Contact 3.2)."""

    #: Cosine above which they merge, unless polarity, numbers or names differ.
    threshold: Annotated[float, Field(ge=0.5, le=1.0)]
    #: Gained by the survivor, at most to 1.0.
    reinforce: Share
    #: Kinds that are merged.
    kinds: tuple[Kind, ...]


class Decay(_Part):
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


class Compress(_Part):
    """When episodes become patterns and old sessions summaries (Brain 4.4, Contact 6.2, Logic 3)."""

    #: Episodes on one theme that make a pattern; 0 makes none.
    pattern_episodes: Annotated[int, Field(ge=0, le=1000)]
    #: Cosine to the theme's centre that an episode needs to belong to it.
    theme_similarity: Share
    #: Ratio of two groups' means from which a pattern quantifies the difference.
    contrast_ratio: Annotated[float, Field(ge=1.0, le=100.0)]
    pattern_importance: Share
    #: Uncompressed sessions above which the oldest half is summarised; 0 never.
    session_threshold: Annotated[int, Field(ge=0, le=100_000)]
    #: Sentences of an extractive summary.
    summary_sentences: Annotated[int, Field(ge=1, le=20)]
    summary_importance: Share


class Prune(_Part):
    """What is forgotten (Brain 4.4)."""

    #: Importance below which a memory may be forgotten.
    below: Share
    #: Days without access before it is.
    unaccessed_days: Days


class Recall(_Part):
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
    #: Days after which recency is 0.
    recency_days: Days
    #: Accesses at which access frequency is 1.
    access_cap: Count
    bm25_k1: Annotated[float, Field(ge=0.0, le=10.0)]
    bm25_b: Share
    #: What counts as speaking of oneself, as naming a time, as asking for a time or for what the assistant said.
    first_person: Pattern
    names_time: Pattern
    asks_when: Pattern
    asks_assistant: Pattern
    weights: dict[str, Weight]

    @model_validator(mode="after")
    def _known_signals(self) -> Self:
        if unknown := [name for name in self.weights if name not in SIGNALS]:
            raise ValueError(f"weights has unknown signals {', '.join(unknown)}; known are {', '.join(SIGNALS)}")
        return self


class Cycle(_Part):
    """When the tiers run (Brain 4, Contact 6.1)."""

    #: Hours between periodic cycles, counted from midnight UTC.
    hours: Annotated[int, Field(ge=1, le=24)]

    @property
    def period(self) -> timedelta:
        """Time between two cycles."""
        return timedelta(hours=self.hours)


class WorkingMemory(_Part):
    """The sliding window of a session (Brain 5, Chat 1)."""

    turns: Count
    keep_first: bool
    ttl_hours: Annotated[float, Field(gt=0, le=8760)]
    #: Minutes of quiet after which a session is flushed and consolidated.
    idle_minutes: Annotated[float, Field(gt=0, le=1440)]
    #: Turns kept word for word when a full session is summarised (Chat flow 1).
    keep_verbatim: Count


class Context(_Part):
    """Tokens of each section of an assembled context (Brain 6)."""

    total: Tokens
    system: Tokens
    profile: Tokens
    memories: Tokens
    service_data: Tokens
    history: Tokens
    tools: Tokens
    buffer: Tokens
    #: Turns of the history kept word for word when older ones are summarised.
    keep_verbatim: Count


class Relationship(_Part):
    """From which session on a relationship has which stage, and what context it gets (Contact 5)."""

    building_sessions: Count
    established_sessions: Count
    deep_sessions: Count
    deep_streak_days: Count
    #: Tokens of memories for new, building, established and deep.
    tokens: tuple[Tokens, Tokens, Tokens, Tokens]


class Mood(_Part):
    """What is read from moods and rhythms (Contact 4)."""

    model_timeout_ms: Count
    negative_messages: Count
    timing_share: Share
    timing_band_hours: Annotated[int, Field(ge=1, le=24)]
    timing_days: Count
    decline_share: Share
    decline_days: Count
    churn_step: Share


class StructuredFacts(_Part):
    """Which extractions become structured facts, and which are always recalled (Chat flows 2 and 3)."""

    min_confidence: Share
    min_importance: Share
    recall_importance: Share


class Profile(_Part):
    """The narrative of a subject (Agent 1.1)."""

    narrative_words: Count


class Policy(_Part):
    """One policy. `hash` identifies its numbers and goes on every run and memory."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    description: str
    #: Postgres text-search configuration that stems the terms.
    language: Literal["english", "simple", "german", "french", "spanish", "italian", "portuguese", "dutch"]
    cycle: Cycle
    extract: Extract
    salience: Salience
    chunk: Chunking
    importance: Importance
    merge: Merge
    decay: Decay
    compress: Compress
    prune: Prune
    recall: Recall
    working_memory: WorkingMemory
    context: Context
    relationship: Relationship
    mood: Mood
    structured_facts: StructuredFacts
    profile: Profile

    _hash: str = PrivateAttr(default="")

    @property
    def hash(self) -> str:
        """First 16 hex digits of the sha256 over all numbers; comments and layout do not count."""
        if not self._hash:
            canonical = self.model_dump_json(exclude={"description"})
            self._hash = hashlib.sha256(canonical.encode()).hexdigest()[:16]
        return self._hash

    def __hash__(self) -> int:
        return hash(self.hash)


@cache
def load_policy(name_or_path: str) -> Policy:
    """Return a shipped policy by name, or the policy file at a path.

    Raises:
        PolicyError: no such policy, not TOML, or a key is unknown, missing or out of range; the message names the key
            and what is allowed.
    """
    shipped = files("reverie") / "policies" / f"{name_or_path}.toml"
    path = Path(name_or_path)
    if path.suffix != ".toml" and shipped.is_file():
        text = shipped.read_text(encoding="utf-8")
    elif path.is_file():
        text = path.read_text(encoding="utf-8")
    else:
        raise PolicyError(
            f"There is no policy {name_or_path!r}: give one of {', '.join(shipped_policies())} or the path of a .toml file."
        )
    try:
        return Policy.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"Policy {name_or_path} is not valid TOML: {error}.") from error
    except ValidationError as error:
        raise PolicyError(f"Policy {name_or_path}: {_sentences(error)}.") from error


def shipped_policies() -> list[str]:
    """Return the names of the policies that come with Reverie."""
    return sorted(item.name.removesuffix(".toml") for item in (files("reverie") / "policies").iterdir())


def _sentences(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(str(part) for part in problem['loc']) or 'the file'}: {problem['msg'].removeprefix('Value error, ')}"
        + (f", found {problem['input']!r}" if isinstance(problem["input"], (str, int, float, bool)) else "")
        for problem in error.errors()
    )
