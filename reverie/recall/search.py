"""The statement of a recall: three searches, every signal, the weighted sum (spec D1-D3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Literal, LiteralString
from uuid import UUID

import numpy as np
from psycopg import Connection, RawCursor

from reverie.inference import Vectors, to_half_wire
from reverie.language.cues.speech import offers_help
from reverie.language.text import attributed, strip_invisible
from reverie.policy import SIGNALS, Policy, RecallPolicy
from reverie.recall.places.read import read_nearby
from reverie.recall.question import ParsedQuestion
from reverie.recall.result import Hit, Signals
from reverie.store.columns import HalfVectorParameter
from reverie.store.queries import variants
from reverie.store.session.statement import numbered

#: A time after everything that was ever said.
LAST = datetime(9999, 12, 31, tzinfo=UTC)
_EPOCH, _MILLISECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(milliseconds=1)
#: Columns of the statement; every row has the BM25 of the best item, and the signals are the last columns.
_ID, BEST_BM25, _FOUND, _FORMERS, _DOUBTED, _SIGNALS = 1, 15, 16, 17, 18, 19
#: All signals, in the order in which a hit lists them.
MEASURED = (*(name for name in SIGNALS if name != "session_similarity"), "session_similarity")
#: The signals that the statement always measures, and those of an item by itself, which it measures if one of them has
#: a weight; in the order of its columns. After them comes `date`, if the question names one.
_ALWAYS = (
    "similarity", "lexical", "answers", "session_similarity", "speaker", "first_person", "names_time", "asks",
    "assistant",
)  # fmt: skip
_RATED = ("memory", "recency", "importance", "access", "entity", "standing", "length")
#: The parameters by which the statement checks a cached row of `read_subject`.
_CACHED = ("speakers", "embedded_by", "is_withheld", "may_wait")
#: Each signal that has a weight in the statement, and the name of its parameter.
_WEIGHTS = tuple((name, f"w_{name}") for name in MEASURED if name != "asked_assistant")


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """A search for candidates among a subject's items."""

    tenant_id: str
    subject_id: str
    question: ParsedQuestion
    #: The vector of the question, shape (dimensions,); None: only words and entities are searched.
    vector: Vectors | np.ndarray | None
    #: The embedding model.
    model: str | None
    as_of: datetime = LAST
    #: Only memories of these kinds.
    kinds: Sequence[str] | None = None
    include_compressed: bool = False
    #: Only items with these ids.
    among: Sequence[UUID] | None = None
    #: Most hits of the answer; None: the policy's.
    top_k: int | None = None
    #: Most rows; None: the policy's.
    ranked: int | None = None
    #: An earlier row of `read_subject`, which the statement checks: see `checked_rows`.
    cached: Sequence[Any] | None = None


def search(conn: Connection[Any], wanted: Search, policy: Policy) -> list[tuple[Hit, str | None]]:
    """Return candidates, best first, each with the filter that drops it (None: it passes)."""
    params = search_params(wanted, policy)
    if params is None:
        return []
    statement, names = numbered(search_text(params))
    rows = RawCursor(conn).execute(statement, [params[name] for name in names], prepare=True, binary=True).fetchall()
    return read_hits(rows, params)


def search_params(wanted: Search, policy: Policy) -> dict[str, Any] | None:
    """Return the parameters of the statement `search`; None if the policy leaves nothing to search."""
    numbers, question, kinds = policy.recall, wanted.question, wanted.kinds
    items = set(numbers.items) if kinds is None else {"memory"} & set(numbers.items)
    if not items:
        return None
    weights = _weights(wanted, policy)
    asked_assistant = weights["asked_assistant"] if question.asks_assistant else 0.0
    standing = wanted.vector is not None and question.kind != "question" and numbers.standing > 0
    return {
        "tenant": wanted.tenant_id,
        "subject": wanted.subject_id,
        "model": wanted.model if wanted.vector is not None else None,
        "vector": None if wanted.vector is None else half_vector(wanted.vector),
        "question": question.text,
        "language": policy.language,
        "horizon": horizon(wanted.as_of),
        "as_of": wanted.as_of,
        "item": items.pop() if len(items) == 1 else None,
        **_kind_params(kinds, policy, wanted.as_of),
        "include_compressed": wanted.include_compressed,
        "among": None if wanted.among is None else list(wanted.among),
        "candidates": _arm_length(numbers, wanted.top_k),
        "standing": numbers.standing if standing else None,
        "length_cap": numbers.length_cap,
        "min_similarity": numbers.min_similarity,
        "longest_reply": numbers.longest_reply,
        "former": question.asks_former,
        "min_importance": numbers.min_importance,
        "words": bool(weights["lexical"] or weights["answers"]),
        "k1": numbers.bm25_k1,
        "b": numbers.bm25_b,
        "recency_days": numbers.recency_days,
        "access_cap": numbers.access_cap,
        "mentioned": list(question.mentioned) or None,
        "asks_assistant": question.asks_assistant,
        "rated": any(weights[name] for name in _RATED),
        "weights": weights,
        "since": [span[0] for span in question.spans] or None,
        "until": [span[1] for span in question.spans] or None,
        "limit": wanted.ranked or numbers.ranked,
        **({} if wanted.cached is None else dict(zip(_CACHED, wanted.cached, strict=True))),
        **{parameter: weights[name] for name, parameter in _WEIGHTS},
        "w_assistant": weights["assistant"] + asked_assistant,
    }


def _weights(wanted: Search, policy: Policy) -> dict[str, float]:
    """Return the weight of each signal; without a vector the policy's base weights, as a message's may ignore words."""
    numbers = policy.recall
    of_kind = numbers.weights if wanted.vector is None else numbers.weights_for(wanted.question.kind)
    return {name: of_kind.get(name, 0.0) for name in MEASURED}


def _arm_length(numbers: RecallPolicy, top_k: int | None) -> int:
    """Return the most candidates of each arm."""
    return max(numbers.candidates, numbers.candidates_per_hit * (top_k or numbers.top_k), top_k or 0)


def _kind_params(kinds: Sequence[str] | None, policy: Policy, as_of: datetime) -> dict[str, Any]:
    """Return the parameters that select kinds; `working`: recent memories, about now by their words or a hint."""
    numbers = policy.working_memory
    working = kinds is not None and "working" in kinds
    return {
        "kinds": None if kinds is None else list(kinds),
        "about_now": [f"%{phrase}%" for phrase in numbers.about_now] if working else [],
        "now_origins": ["working"] if working else [],
        "now_since": as_of - timedelta(hours=numbers.ttl_hours),
    }


def search_text(params: Mapping[str, Any]) -> LiteralString:
    """Return the variant of the query `search` for these parameters."""
    embedded = "embedded" if params["vector"] is not None else "unembedded"
    filtered = "filtered" if any(params[name] is not None for name in ("item", "kinds", "among")) else ""
    dated = "dated" if params["since"] is not None else ""
    rated = "rated" if params["rated"] else ""
    standing = "standing" if params["standing"] is not None else ""
    from_cache = "cached" if "speakers" in params else ""
    return search_variants()[embedded, filtered, dated, rated, standing, from_cache]


@cache
def search_variants() -> Mapping[tuple[str, ...], LiteralString]:
    """Return the texts of the query `search` by its features; "" stands for one that it lacks."""
    alternatives = (
        ("embedded", "unembedded"), ("", "filtered"), ("", "dated"), ("", "rated"), ("", "standing"), ("", "cached"),
    )  # fmt: skip
    return variants("recall", "search", alternatives)


class StaleCacheError(Exception):
    """The cached row of a subject is out of date."""


def checked_rows(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the rows of a search with a cached row as a search without one gives them. Raises StaleCacheError."""
    if not rows or not rows[0][-1]:
        raise StaleCacheError
    return [row for row in rows if row[_ID] is not None]  # without an item: nothing was found


def read_hits(rows: Sequence[tuple[Any, ...]], params: Mapping[str, Any]) -> list[tuple[Hit, str | None]]:
    """Return the rows of the statement `search` with these parameters as hits, each with the filter that drops it."""
    measured = (*_ALWAYS, *(_RATED if params["rated"] else ()), *(("date",) if params["since"] is not None else ()))
    places = {name: place for place, name in enumerate(measured, start=_SIGNALS)}
    if params["asks_assistant"]:
        places["asked_assistant"] = places["assistant"]
    weights = {name: weight for name, weight in params["weights"].items() if weight}
    return [_hit(row, places, weights) for row in rows]


def near_enough(
    candidates: Sequence[tuple[Hit, str | None]], least: float, *, least_of_assistant: float = -1.0
) -> list[tuple[Hit, str | None]]:
    """Return candidates; those less similar to the query than `least` are dropped as `similarity`.

    `least_of_assistant` is the limit for the assistant's turns, unless `least` is higher.
    """
    least_of_assistant = max(least, least_of_assistant)
    if least_of_assistant <= -1.0:
        return list(candidates)

    def too_far(hit: Hit) -> bool:
        if not isinstance(hit.signals, Signals):
            return False
        measured = hit.signals.measured
        return measured("similarity") < (least_of_assistant if measured("assistant") else least)

    return [(hit, reason or ("similarity" if too_far(hit) else None)) for hit, reason in candidates]


def unranked(rows: Sequence[tuple[Any, ...]]) -> int:
    """Return how many candidates ranked lower than these rows of the statement `search`."""
    return rows[0][_FOUND] - len(rows) if rows else 0


def former_ids(rows: Sequence[tuple[Any, ...]]) -> dict[UUID, list[UUID]]:
    """Return, by candidate of these rows, the memories of its statements that no longer hold."""
    return {row[_ID]: row[_FORMERS] for row in rows if row[_FORMERS] is not None}


def doubted_by(rows: Sequence[tuple[Any, ...]]) -> dict[UUID, UUID]:
    """Return, by memory among the candidates of these rows, the turn that may have ended its statement."""
    return {row[_ID]: row[_DOUBTED] for row in rows if row[_DOUBTED] is not None}


def searches_words(policy: Policy) -> bool:
    """Return whether the policy's own weights search by words."""
    return any(policy.recall.weights.get(name, 0.0) for name in ("lexical", "answers"))


def by_words(policy: Policy) -> Policy:
    """Return a vectors-only policy with the weight of similarity moved to words, and no limit on similarity."""
    weights = dict(policy.recall.weights)
    weights["lexical"] = weights.pop("similarity", 0.0) or 1.0
    numbers = policy.recall.model_copy(update={"weights": weights, "query_weights": {}, "min_similarity": -1.0})
    return policy.model_copy(update={"recall": numbers})


def widened(policy: Policy, width: int) -> Policy:
    """Return a policy that searches `width` times as many candidates."""
    numbers = policy.recall
    more = {"candidates": width * numbers.candidates, "candidates_per_hit": width * numbers.candidates_per_hit}
    return policy if width == 1 else policy.model_copy(update={"recall": numbers.model_copy(update=more)})


def horizon(as_of: datetime) -> UUID:
    """Return the lowest id of an item after `as_of`: ids start with their event time in milliseconds."""
    milliseconds = (as_of - _EPOCH) // _MILLISECOND + 1
    return UUID(int=min(milliseconds, (1 << 48) - 1) << 80)


def half_vector(vector: Vectors | np.ndarray) -> HalfVectorParameter:
    """Return a vector as a halfvec parameter."""
    return HalfVectorParameter(to_half_wire(np.asarray(vector, np.float32).reshape(1, -1)).tobytes())


def _hit(row: tuple[Any, ...], places: Mapping[str, int], weights: Mapping[str, float]) -> tuple[Hit, str | None]:
    """Return a row of the statement as a hit, with the filter that drops it."""
    dropped, id_, kind, content, happened_at, score, turn_id, session_id, importance = row[:9]
    dense, lexical, entity, speaker, role, question = row[9:15]
    item: Literal["turn", "memory"] = "turn" if kind is None else "memory"
    if kind is None:
        kind, turn_id, content = "turn", id_, attributed(content, speaker, role)
    else:
        content = strip_invisible(content)
    ranks: dict[str, int] = {}
    if dense is not None:
        ranks["dense"] = dense
    if lexical is not None:
        ranks["lexical"] = lexical
    if entity is not None:
        ranks["entity"] = entity
    signals = Signals(row, places, weights)
    hit = Hit(item, id_, kind, content, happened_at, score, signals, ranks, turn_id, session_id, importance)
    asked = None if question is None else read_nearby(question)
    return hit if asked is None or offers_help(asked.content) else hit._replace(reply_to=asked), dropped
