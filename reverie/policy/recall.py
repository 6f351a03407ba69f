"""Numbers of recall: what is searched, how its signals weigh, what is always recalled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, model_validator

from reverie.model import Kind
from reverie.policy.defaults import language_defaults
from reverie.policy.table import ColumnRegex, Count, Days, Regex, Share, Table, Tokens, Weight

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
    "standing",
    "length",
)

_WORDS = language_defaults("recall")

#: What a query is: it asks what was said, tells something, or wants something done or advised.
QueryKind = Literal["question", "message", "request"]
QUERY_KINDS: tuple[QueryKind, ...] = get_args(QueryKind)


#: Passes that a policy may leave out (reverie/recall/passes.py).
PassName = Literal["ends", "changes", "currency", "relation", "overview", "one_place"]


class RecallPolicy(Table):
    """What is found and in which order (Brain 3, Contact 2.3, Logic 2, spec D1-D5)."""

    #: Candidates taken from each arm.
    candidates: Count = 30
    #: Candidates for each hit that is asked for, where that is more (Logic 2.3).
    candidates_per_hit: Annotated[int, Field(ge=0, le=100)] = 0
    #: How many times as many candidates the next searches take, while folded repeats leave too few hits; empty: none.
    wider: tuple[Annotated[int, Field(ge=2, le=100)], ...] = (4, 16)
    top_k: Count = 10
    token_budget: Tokens = 2000
    #: Less important memories are not recalled.
    min_importance: Share = 0.0
    #: Cosine that a candidate of the dense arm needs; -1 takes all.
    min_similarity: Annotated[float, Field(ge=-1.0, le=1.0)] = -1.0
    #: Whether preferences and instructions stand before everything else, however they score (Logic 2.6).
    procedural_first: bool = False
    #: The longest turn, in words, that takes the place of a memory made of it where it says more; 0: none.
    longest_turn: Annotated[int, Field(ge=0, le=10_000)] = 0
    #: The longest reply, in words, that is given with the question it answers; 0: none.
    longest_reply: Annotated[int, Field(ge=0, le=10_000)] = 0
    #: The latest turns on their way to memory that are candidates before they are searchable; 0: none.
    fresh: Annotated[int, Field(ge=0, le=1000)] = 0
    #: Characters of a request's turns that are embedded with it, so that their vectors find them at once.
    fresh_characters: Annotated[int, Field(ge=0, le=1_000_000)] = 4000
    #: Which items are searched: raw turns, memories, or both.
    items: tuple[Literal["turn", "memory"], ...] = ("memory",)
    #: Ranked candidates that come back to be fitted into the budget and explained.
    ranked: Count = 30
    #: The best of them that a cross-encoder reads where one is set; 0: none.
    rerank_candidates: Annotated[int, Field(ge=0, le=1000)] = 30
    #: Weight of its number, 0 to 1, which replaces the similarity and its weight.
    rerank_weight: Weight = 1.0
    #: The nearest preferences, instructions and lasting facts that are candidates for a message or request whatever
    #: else is nearer; 0: none.
    standing: Annotated[int, Field(ge=0, le=1000)] = 0
    #: Words at which length is 1, in multiples of the search terms that an item of the subject has on average.
    length_cap: Annotated[float, Field(gt=0.0, le=100.0)] = 4.0
    #: Days after which recency is 0.
    recency_days: Days = 365.0
    #: Accesses at which access frequency is 1.
    access_cap: Count = 20
    bm25_k1: Annotated[float, Field(ge=0.0, le=10.0)] = 1.2
    bm25_b: Share = 0.75
    #: What counts as speaking of oneself, as naming a time, as asking for what the assistant said.
    first_person: ColumnRegex = _WORDS["first_person"]
    names_time: ColumnRegex = _WORDS["names_time"]
    asks_assistant: Regex = _WORDS["asks_assistant"]
    #: What asks for what was so once, so that what no longer holds is given as well.
    asks_former: Regex = _WORDS["asks_former"]
    #: What asks for an overview: for any other question, message or request summaries come after what they tell of.
    #: The empty pattern matches every query: summaries stand where they rank.
    asks_overview: Regex = "(?:)"
    #: What asks for what is so now, and what says that something has changed: a hit with such words that is as good as
    #: an earlier one but for `change_margin` of the score stands before it.
    asks_present: Regex = _WORDS["asks_present"]
    changes: Regex = _WORDS["changes"]
    change_margin: Annotated[float, Field(ge=0.0, le=10.0)] = 0.0
    #: What tells a question from a message, one about what was from others, a request from a message, and a question
    #: that seeks advice from one about what was said.
    interrogative: Regex = _WORDS["interrogative"]
    about_past: Regex = _WORDS["about_past"]
    requests: Regex = _WORDS["requests"]
    seeks_advice: Regex = _WORDS["seeks_advice"]
    #: Words of the shortest message; fewer that ask nothing are search words, which count as a question.
    message_words: Count = 4
    #: Weight of each signal in the score; a signal that is not named counts 0.
    weights: dict[str, Weight] = Field(default_factory=lambda: {"similarity": 1.0})
    #: Weights for a kind of query, instead of `weights`; without them all kinds have the same. A query without a vector
    #: always has `weights`.
    query_weights: dict[QueryKind, dict[str, Weight]] = Field(default_factory=dict)

    #: How probable it must be, for a query of a kind, that a turn says something worth keeping; 0: not asked.
    query_min_worth: dict[QueryKind, Share] = Field(default_factory=dict)
    #: Cosine to a query of a kind below which a hit is not given: small talk reminds of nothing.
    query_min_similarity: dict[QueryKind, Annotated[float, Field(ge=-1.0, le=1.0)]] = Field(default_factory=dict)
    #: The same for turns of the assistant, unless the query asks for what the assistant said.
    query_min_assistant: dict[QueryKind, Annotated[float, Field(ge=-1.0, le=1.0)]] = Field(default_factory=dict)
    #: How probable it must be that general knowledge answers a request, whoever asks, for a context to give no
    #: memories; 0: not asked (reverie/recall/places/general.py).
    general_probability: Share = 0.0
    #: Passes over what was found that are left out, and kinds of memory that are not recalled.
    without: tuple[PassName, ...] = ()
    without_kinds: tuple[Kind, ...] = ()
    #: What a question asks for, by relation: the memories in force that state it stand first.
    asked: dict[str, Regex] = Field(default_factory=dict)
    #: Words for people of whom a question may ask instead of the subject ("where does my sister live?").
    people: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _known_signals(self) -> Self:
        for heading, weights in (("weights", self.weights), *self.query_weights.items()):
            if unknown := [name for name in weights if name not in SIGNALS]:
                raise ValueError(f"{heading} has unknown signals {', '.join(unknown)}; known are {', '.join(SIGNALS)}")
        return self

    def weights_for(self, kind: QueryKind) -> Mapping[str, float]:
        """Return the weights for a kind of query."""
        return self.query_weights.get(kind, self.weights)


class StructuredFactsPolicy(Table):
    """Which extractions become structured facts, and which are always recalled (Chat flows 2 and 3)."""

    min_confidence: Share = 0.4
    min_importance: Share = 0.2
    #: Confidence of a rule that names none of its own.
    rule_confidence: Share = 0.9
    #: Minutes within which two values of one session stand beside each other, unless a word of change is said.
    together_minutes: Annotated[float, Field(ge=0, le=10_080)] = 60.0
    #: Earlier statements of which is judged which ones a message ends; 0: none is. A language model is shown the
    #: nearest by cosine, as near as this at least.
    near: Annotated[int, Field(ge=0, le=50)] = 0
    near_similarity: Share = 0.15
    #: The judge of Reverie's own reads those with the highest chance by their vectors alone, this one at least, and the
    #: parts of a statement in somebody's own words where the chance of all of it is this one at least.
    judge_chance: Annotated[float, Field(gt=0, lt=1)] = 0.004
    parts_chance: Share = 0.3
    #: Chance of an end from which the judge is followed; 0: it is not asked.
    ends_chance: Share = 0.0
    #: The same where the message states nothing itself, and how many statements it is held against; 0: such a message
    #: ends nothing.
    silent_chance: Share = 0.0
    silent_near: Annotated[int, Field(ge=0, le=50)] = 0
    #: Those as important as this are always recalled.
    recall_importance: Share = 0.5
    #: Summaries that a staged recall adds at most, and the cosine distance that they must stay under.
    summaries: Annotated[int, Field(ge=0, le=100)] = 3
    summary_distance: Annotated[float, Field(ge=0.0, le=2.0)] = 0.4
    #: Letters of a summary that a staged recall shows.
    summary_letters: Count = 150
