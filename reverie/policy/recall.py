"""The headings of recall: what is searched, how signals are weighed, what is always recalled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field

from reverie.model import Kind
from reverie.policy.defaults import language_defaults
from reverie.policy.table import ColumnRegex, Count, Days, Regex, Share, Table, Tokens, Weight, known_name

#: The signals that recall can weigh, in the order in which `sql/queries/recall.sql` measures them.
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

#: Kind of a query: a question asks what was said, a message tells something, a request wants action or advice.
QueryKind = Literal["question", "message", "request"]
QUERY_KINDS: tuple[QueryKind, ...] = get_args(QueryKind)


#: Passes that a policy may leave out (reverie/recall/passes.py).
PassName = Literal["ends", "changes", "currency", "relation", "doubts", "overview", "one_place"]


#: A name in `SIGNALS`.
SignalName = Annotated[str, AfterValidator(known_name(SIGNALS))]


class RecallPolicy(Table):
    """The search and the ranking of items (Brain 3, Contact 2.3, Logic 2, spec D1-D5)."""

    #: Number of candidates from each search: by vectors, words and entities.
    candidates: Count = 30
    #: Number of candidates for each requested hit, if that is more (Logic 2.3).
    candidates_per_hit: Annotated[int, Field(ge=0, le=100)] = 0
    #: Factors of the candidates of further searches, made while folded repeats leave too few hits; empty: none.
    wider: tuple[Annotated[int, Field(ge=2, le=100)], ...] = (4, 16)
    #: Maximum number of hits.
    top_k: Count = 10
    #: Maximum number of tokens of all hits together.
    token_budget: Tokens = 2000
    #: Minimum importance of a recalled memory.
    min_importance: Share = 0.0
    #: Minimum cosine of a candidate found by its vector; -1: all are taken.
    min_similarity: Annotated[float, Field(ge=-1.0, le=1.0)] = -1.0
    #: Whether preferences and instructions rank before everything else, whatever their scores (Logic 2.6).
    procedural_first: bool = False
    #: Maximum number of words of a turn that replaces a memory made from it if the turn says more; 0: none does.
    longest_turn: Annotated[int, Field(ge=0, le=10_000)] = 0
    #: Maximum number of words of a reply that is returned with the question it answers; 0: none is.
    longest_reply: Annotated[int, Field(ge=0, le=10_000)] = 0
    #: Number of the latest turns that are candidates before they are searchable; 0: none.
    fresh: Annotated[int, Field(ge=0, le=1000)] = 0
    #: Maximum number of characters of a request's turns that are embedded at once, to be found by their vectors.
    fresh_characters: Annotated[int, Field(ge=0, le=1_000_000)] = 4000
    #: Items that are searched: turns, memories, or both.
    items: tuple[Literal["turn", "memory"], ...] = ("memory",)
    #: Number of ranked candidates that the search returns, to be fitted into the budget and explained.
    ranked: Count = 30
    #: Number of the best candidates that a cross-encoder scores, if one is configured; 0: none.
    rerank_candidates: Annotated[int, Field(ge=0, le=1000)] = 30
    #: Weight of the cross-encoder's score, from 0 to 1, which replaces the similarity and its weight.
    rerank_weight: Weight = 1.0
    #: Number of the nearest preferences, instructions and lasting facts that are candidates for a message or request
    #: even if others are nearer; 0: none.
    standing: Annotated[int, Field(ge=0, le=1000)] = 0
    #: Number of words at which the signal length is 1, in multiples of the subject's mean search terms per item.
    length_cap: Annotated[float, Field(gt=0.0, le=100.0)] = 4.0
    #: Days after which the signal recency is 0.
    recency_days: Days = 365.0
    #: Number of accesses at which the signal access is 1.
    access_cap: Count = 20
    #: BM25: saturation of the frequency of a term.
    bm25_k1: Annotated[float, Field(ge=0.0, le=10.0)] = 1.2
    #: BM25: strength of the correction for length.
    bm25_b: Share = 0.75
    #: Pattern of texts in the first person.
    first_person: ColumnRegex = _WORDS["first_person"]
    #: Pattern of texts that name a time.
    names_time: ColumnRegex = _WORDS["names_time"]
    #: Pattern of queries about something that the assistant said.
    asks_assistant: Regex = _WORDS["asks_assistant"]
    #: Pattern of queries about the past, which also return values that no longer hold.
    asks_former: Regex = _WORDS["asks_former"]
    #: Pattern of queries for an overview; for others, summaries come after the items that they cover. The empty pattern
    #: matches every query: summaries stay where they rank.
    asks_overview: Regex = "(?:)"
    #: Pattern of questions and requests for all that is known of somebody: they get what lasts first.
    asks_everything: Regex = "(?!)"
    #: Pattern of queries about the present.
    asks_present: Regex = _WORDS["asks_present"]
    #: Pattern of texts that mention a change.
    changes: Regex = _WORDS["changes"]
    #: For queries about the present, a hit that mentions a change goes before earlier hits that score at most this much
    #: higher.
    change_margin: Annotated[float, Field(ge=0.0, le=10.0)] = 0.0
    #: Pattern of questions, as opposed to messages.
    interrogative: Regex = _WORDS["interrogative"]
    #: Pattern of questions about the past.
    about_past: Regex = _WORDS["about_past"]
    #: Pattern of requests, as opposed to messages.
    requests: Regex = _WORDS["requests"]
    #: Pattern of questions that seek advice, which count as requests.
    seeks_advice: Regex = _WORDS["seeks_advice"]
    #: Minimum number of words of a message; fewer words that ask nothing are search words, which count as a question.
    message_words: Count = 4
    #: Weight of each signal in the score; 0 for a signal that is not named.
    weights: dict[SignalName, Weight] = Field(default_factory=lambda: {"similarity": 1.0})
    #: Weights for a kind of query, in place of `weights`. A query without a vector always uses `weights`.
    query_weights: dict[QueryKind, dict[SignalName, Weight]] = Field(default_factory=dict)

    #: Minimum probability, by kind of query, that a turn says something worth keeping; 0: no limit.
    query_min_worth: dict[QueryKind, Share] = Field(default_factory=dict)
    #: Minimum cosine of a hit to the query, by kind of query, so that small talk recalls nothing.
    query_min_similarity: dict[QueryKind, Annotated[float, Field(ge=-1.0, le=1.0)]] = Field(default_factory=dict)
    #: The same for turns of the assistant, unless the query asks about something that the assistant said.
    query_min_assistant: dict[QueryKind, Annotated[float, Field(ge=-1.0, le=1.0)]] = Field(default_factory=dict)
    #: Probability, from which a request gets no memories, that general knowledge answers it for anybody; 0: never
    #: (reverie/recall/places/general.py).
    general_probability: Share = 0.0
    #: Passes over the ranked candidates that are left out.
    without: tuple[PassName, ...] = ()
    #: Kinds of memory that are not recalled.
    without_kinds: tuple[Kind, ...] = ()
    #: Pattern of questions about a relation, by relation; memories in force that state the relation go first.
    asked: dict[str, Regex] = Field(default_factory=dict)
    #: Words for people other than the subject that a question may be about ("where does my sister live?").
    people: tuple[str, ...] = ()

    def weights_for(self, kind: QueryKind) -> Mapping[str, float]:
        """Return the weights for a kind of query."""
        return self.query_weights.get(kind, self.weights)


class StructuredFactsPolicy(Table):
    """The making, ending and recall of structured facts (Chat flows 2 and 3)."""

    #: Minimum confidence of an extraction that becomes a structured fact.
    min_confidence: Share = 0.4
    #: Minimum importance of an extraction that becomes a structured fact.
    min_importance: Share = 0.2
    #: Confidence of a rule that states none.
    rule_confidence: Share = 0.9
    #: Minutes within which two values stated in one session hold side by side, unless a word marks a change.
    together_minutes: Annotated[float, Field(ge=0, le=10_080)] = 60.0
    #: Maximum number of earlier statements judged for whether a message ends them; 0: none is judged.
    near: Annotated[int, Field(ge=0, le=50)] = 0
    #: Minimum cosine of the statements that a language model judges; it is shown the nearest.
    near_similarity: Share = 0.15
    #: Minimum probability, by vectors alone, of the statements that Reverie's own judge reads; it reads the likeliest.
    judge_chance: Annotated[float, Field(gt=0, lt=1)] = 0.004
    #: Probability that a statement in the words of the message ends from which its parts are judged as well.
    parts_chance: Share = 0.3
    #: Probability from which a statement that the judge reads has ended; 0: the judge is not used.
    ends_chance: Share = 0.0
    #: Minimum probability for an end by a message that states nothing itself; 0: such a message ends nothing.
    silent_chance: Share = 0.0
    #: Maximum number of statements judged for such a message; 0: it ends nothing.
    silent_near: Annotated[int, Field(ge=0, le=50)] = 0
    #: Probability from which a statement that has not ended is in doubt; 0: none is.
    doubt_chance: Share = 0.0
    #: Minimum probability for a doubt by a message that states nothing itself; 0: such a message casts none.
    silent_doubt_chance: Share = 0.0
    #: Minimum cosine similarity of a statement and a message that casts doubt on it.
    doubt_similarity: Share = 0.0
    #: Importance from which a structured fact is always recalled.
    recall_importance: Share = 0.5
    #: Maximum number of summaries that a staged recall adds.
    summaries: Annotated[int, Field(ge=0, le=100)] = 3
    #: Cosine distance that these summaries must stay below.
    summary_distance: Annotated[float, Field(ge=0.0, le=2.0)] = 0.4
    #: Maximum number of letters of a summary in a staged recall.
    summary_letters: Count = 150
