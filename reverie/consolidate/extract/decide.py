"""Candidates that the policy's rules find in a batch of turns; pure, over a polars frame."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
import polars as pl

from reverie.consolidate.extract.own_words import without_episodes_told
from reverie.consolidate.extract.reading import ReadTurns, own_statements, without_over
from reverie.consolidate.extract.stated import candidates_of
from reverie.language.cues.attribution import veil_expr
from reverie.language.cues.compiled import Rules
from reverie.language.cues.entities import entities_frame
from reverie.language.cues.frame import extract_frame
from reverie.language.cues.immediate import compiled
from reverie.language.cues.keeping import TOOL_CALLS_FROM, kept_frame, pieces
from reverie.language.cues.salience import salience_expr, unit_of
from reverie.language.cues.speech import episode_of_tool_call, is_question_expr, low_content_expr
from reverie.language.expiry import statement_end
from reverie.language.subject import sentence
from reverie.language.text import CountTokens, Span, owned, strip_invisible
from reverie.model import Candidate, Proposition, candidate_id
from reverie.policy import Policy

#: The columns of turns; tool calls are JSON.
TURNS = pl.Schema(
    {
        "id": pl.String(),
        "subject_id": pl.String(),
        "session_id": pl.String(),
        "role": pl.String(),
        "speaker": pl.String(),
        "said_at": pl.Datetime("us", "UTC"),
        "text": pl.String(),
        "tool_calls": pl.String(),
        # for a short turn: the end of the one before it in its session, if it is another speaker's
        "asked": pl.String(),
    }
)


class TurnVerdict(NamedTuple):
    """The verdict on a turn; a tuple, since there is one for each turn of a history."""

    turn_id: str
    subject_id: str
    #: Candidates from this turn.
    candidates: int
    #: Candidates beyond the policy's number for one turn.
    left_out: int
    #: Why it gave none: `role` (a role that is not extracted), `low_content`, `language` (one that the reader does not
    #: read), `question`, `quoted` (it quotes others, and nothing was found in the author's own words), `no_rule`; None:
    #: it gave some.
    reason: str | None
    #: Whether it waits for a language model: a user wrote it, and it is neither empty nor low in content.
    waits: bool
    #: The version of the reader that read it; None: it was not read.
    reader: str | None = None


class SeenEntity(NamedTuple):
    """An entity that a turn names, with the time at which the batch first names it."""

    subject_id: str
    #: Typed id, such as `pet:bruno`.
    mention: str
    first_seen_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnDecisions:
    """The decisions on a batch of turns."""

    candidates: list[Candidate]
    verdicts: list[TurnVerdict]
    #: Clauses that a rule matches but that state nothing, by reason.
    refused: Counter[str]
    #: Entities that the turns name, in order; empty without `[extract] turn_entities`.
    entities: list[SeenEntity]


def turns_frame(rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    """Return rows of turns from the log as a frame of the columns `TURNS`."""
    return pl.DataFrame(rows, schema=TURNS, orient="row")


def decide_turns(
    turns: pl.DataFrame,
    tenant_id: str,
    policy: Policy,
    count_tokens: CountTokens,
    *,
    read: ReadTurns | None = None,
    with_model: bool = False,
) -> TurnDecisions:
    """Return the candidates of turns (a frame of the columns `TURNS`) and a verdict on each turn, in its order.

    `read`: what the reader found in the turns; where a pattern states the same, its candidate is taken. `with_model`: a
    language model may read the turns too, and they wait for it: all of them, or those of which the reader is unsure.
    """
    read = read or ReadTurns()
    rules = compiled(policy)
    visible = turns.with_columns(pl.col("text").map_batches(_visible, return_dtype=pl.String))
    marked = visible.with_row_index("index").with_columns(
        spoken=pl.col("role").is_in(list(policy.extract.roles)),
        low=low_content_expr(pl.col("text"), rules),
        asks=is_question_expr(pl.col("text")),
        quotes=veil_expr(pl.col("text")) != pl.col("text"),
        foreign=pl.col("id").is_in(list(read.foreign)),
    )
    spoken = marked.filter("spoken", ~pl.col("low")).drop("index").with_row_index("read")
    statements, places, refused = _statements(spoken, rules, policy)
    statements = without_over(statements, read)
    verbatim = _verbatim(spoken, places, policy, rules, count_tokens)
    found = pl.concat([statements, verbatim, _tool_calls(marked, policy)]).sort("turn_id", "order")
    more = _stated(turns, found, read, tenant_id, policy)
    found = without_episodes_told(found, more)
    most = policy.extract.turn_candidates
    kept = found.group_by("turn_id", maintain_order=True).head(most).select(_FOUND.names())
    numbers = Counter(found["turn_id"].to_list())
    room = {turn_id: max(0, most - number) for turn_id, number in numbers.items()}
    numbers.update({turn_id: len(candidates) for turn_id, candidates in more.items()})
    stated = [each for turn_id, candidates in more.items() for each in candidates[: room.get(turn_id, most)]]
    return TurnDecisions(
        candidates=_candidates(_with_mentions(kept, policy), tenant_id) + stated,
        verdicts=_verdicts(marked, numbers, policy, read, with_model=with_model),
        refused=refused,
        entities=_entities(spoken) if policy.extract.turn_entities else [],
    )


class _LoggedTurn(NamedTuple):
    """A turn of the log whose message was read."""

    id: UUID
    tenant_id: str
    subject_id: str
    session_id: str
    speaker: str | None
    said_at: datetime
    text: str


def _stated(
    turns: pl.DataFrame,
    found: pl.DataFrame,
    read: ReadTurns,
    tenant_id: str,
    policy: Policy,
) -> dict[str, list[Candidate]]:
    """Return the candidates of the reader's statements, by turn, without those that a pattern states as well."""
    patterns = defaultdict(set)
    for turn_id, *stated in found.filter(pl.col("relation").is_not_null())["turn_id", "relation", "who"].iter_rows():
        patterns[turn_id].add(tuple(stated))
    candidates = {}
    for row in turns.filter(pl.col("id").is_in(list(read.statements))).iter_rows(named=True):
        of_log = {name: row[name] for name in ("subject_id", "session_id", "speaker", "said_at")}
        turn = _LoggedTurn(id=UUID(row["id"]), tenant_id=tenant_id, text=strip_invisible(row["text"]), **of_log)
        statements = own_statements(read.statements[row["id"]], patterns[row["id"]])
        candidates[row["id"]] = list(candidates_of(statements, turn, policy))
    return candidates


def _entities(read: pl.DataFrame) -> list[SeenEntity]:
    """Return the entities that the turns name, once for each subject."""
    named = entities_frame(read.select("text")).join(
        read.select("read", "subject_id", "said_at"), left_on="index", right_on="read"
    )
    seen = named.group_by("subject_id", mention=pl.concat_str("type", pl.lit(":"), "slug")).agg(pl.col("said_at").min())
    return [SeenEntity(*row) for row in seen.sort("subject_id", "mention").iter_rows()]


def _with_mentions(found: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    """Return the candidates in order, with the entities that they name and, if the policy counts it, their salience."""
    found = found.join(_mentions(found), on="content", how="left").with_columns(
        pl.when(pl.col("entity").is_null())
        .then("mentions")
        .otherwise(pl.concat_str("entity", "mentions", separator=" ", ignore_nulls=True))
        .alias("mentions")
    )
    if policy.importance.mode == "novelty_salience":
        found = found.with_columns(base=salience_expr(pl.col("said"), policy.salience))
    return found.sort("turn_id", "order")


def _verdicts(
    marked: pl.DataFrame, found: Mapping[str, int], policy: Policy, read: ReadTurns, *, with_model: bool
) -> list[TurnVerdict]:
    """Return a verdict on each turn.

    `found` has the number of candidates by turn, including those beyond the policy's number.
    """
    most = policy.extract.turn_candidates
    numbers = policy.extract.model
    asked = pl.lit(True) if numbers.when == "always" else pl.col("id").is_in(list(read.unsure))
    waits = asked if with_model and numbers.notes > 0 else pl.lit(False)
    why_none = (
        pl.when(~pl.col("spoken"))
        .then(pl.lit("role"))
        .when("low")
        .then(pl.lit("low_content"))
        .when("foreign")
        .then(pl.lit("language"))
        .when("asks")
        .then(pl.lit("question"))
        .when("quotes")
        .then(pl.lit("quoted"))
        .otherwise(pl.lit("no_rule"))
    )
    says_something = pl.col("spoken") & ~pl.col("low") & (pl.col("role") == "user") & (pl.col("text") != "")
    some = {turn_id: number for turn_id, number in found.items() if number}
    candidates = pl.DataFrame(
        {"id": list(some), "number": list(some.values())}, schema={"id": pl.String(), "number": pl.Int64()}
    )
    number = pl.col("number").fill_null(0)
    verdicts = marked.join(candidates, on="id", how="left", maintain_order="left").select(
        "id",
        "subject_id",
        candidates=number.clip(upper_bound=most),
        left_out=(number - most).clip(lower_bound=0),
        reason=pl.when(pl.col("number").is_null()).then(why_none),
        waits=says_something & waits,
        reader=pl.when(pl.col("id").is_in(list(read.read))).then(pl.lit(read.reader, dtype=pl.String())),
    )
    return [TurnVerdict._make(row) for row in verdicts.iter_rows()]


def _visible(texts: pl.Series) -> pl.Series:
    """Return the texts without invisible characters; plain ASCII texts are left as they are."""
    places = texts.str.contains(r"[^\n\r\t -~]").arg_true()
    return texts.scatter(places, [strip_invisible(text) for text in texts.gather(places)]) if len(places) else texts


#: The columns of found candidates, however they were found.
_FOUND = pl.Schema(
    {
        "turn_id": pl.String(),
        "subject_id": pl.String(),
        "session_id": pl.String(),
        "speaker": pl.String(),
        "said_at": pl.Datetime("us", "UTC"),
        "order": pl.Int64(),
        "kind": pl.String(),
        "content": pl.String(),
        "polarity": pl.Int8(),
        "base": pl.Float64(),
        "entity": pl.String(),
        "origin": pl.String(),
        "relation": pl.String(),
        "object": pl.String(),
        "who": pl.String(),
        "topic": pl.String(),
        "phase": pl.String(),
        "lasting": pl.Boolean(),
        "expires_at": pl.Datetime("us", "UTC"),
        # the text whose salience counts
        "said": pl.String(),
    }
)


def _shaped(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(_FOUND.names()).cast(_FOUND)


_HITS = pl.Schema(
    {
        "read": pl.UInt32(),
        "order": pl.Int64(),
        "kind": pl.String(),
        "content": pl.String(),
        "polarity": pl.Int8(),
        "base": pl.Float64(),
        "entity": pl.String(),
        "origin": pl.String(),
        "relation": pl.String(),
        "object": pl.String(),
        "who": pl.String(),
        "topic": pl.String(),
        "phase": pl.String(),
        "lasting": pl.Boolean(),
        "expires_at": pl.Datetime("us", "UTC"),
        "said": pl.String(),
    }
)


def _statements(
    read: pl.DataFrame, rules: Rules, policy: Policy
) -> tuple[pl.DataFrame, dict[int, list[Span]], Counter[str]]:
    """Return the facts, preferences and instructions of the rules, their spans by row of `read`, and the refusals."""
    rows, places, refused = [], defaultdict[int, list[Span]](list), Counter[str]()
    texts, said_at = read["text"], read["said_at"]
    for index, hit in extract_frame(read.select("text"), rules):
        if isinstance(hit, str):
            refused[hit] += 1
            continue
        said = hit.statement
        stated = (said.relation, said.object, said.who, said.topic, said.phase) if said else (None,) * 5
        of_rule = (hit.kind, hit.content, hit.polarity, hit.importance, hit.entity, hit.rule)
        clause = texts[index][hit.start : hit.end]
        end = said and statement_end(said, clause, said_at[index], policy.extract)
        rows.append((index, hit.start, *of_rule, *stated, hit.lasting and not end, end, unit_of(texts[index], clause)))
        places[index].append((hit.start, hit.end))
    hits = pl.DataFrame(rows, schema=_HITS, orient="row")
    return _shaped(hits.join(read.drop("text"), on="read").rename({"id": "turn_id"})), places, refused


def _verbatim(
    read: pl.DataFrame, stated: Mapping[int, list[Span]], policy: Policy, rules: Rules, count_tokens: CountTokens
) -> pl.DataFrame:
    """Return the candidates that keep their words: plain facts, and episodes, long ones in chunks."""
    importance = policy.extract.importance
    rows = [
        (row, piece.place, piece.kind, piece.content, getattr(importance, piece.kind), piece.origin)
        for row, part in kept_frame(read["text"], stated, rules)
        for piece in pieces(part, policy, count_tokens)
    ]
    names = ("read", "order", "kind", "content", "base", "origin")
    found = pl.DataFrame(rows, schema={name: _HITS[name] for name in names}, orient="row")
    return _unstated(found.join(read.drop("text"), on="read").rename({"id": "turn_id"}))


def _tool_calls(marked: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    """Return tool calls as episodes of what was done and why. Source: docs/design-sources.md, Brain 4.2."""
    if not policy.extract.tool_episodes:
        return pl.DataFrame(schema=_FOUND)
    called = marked.filter(pl.col("tool_calls").is_not_null()).rename({"id": "turn_id"})
    episodes = called.with_columns(
        content=pl.col("tool_calls").map_elements(_call_texts, return_dtype=pl.List(pl.String)),
        speaker=pl.lit(None),
        kind=pl.lit("episode"),
        base=pl.lit(policy.extract.importance.episode),
        origin=pl.lit("tool_call"),
    )
    exploded = episodes.explode("content").drop_nulls("content")
    return _unstated(exploded.with_columns(order=TOOL_CALLS_FROM + pl.int_range(pl.len()).over("turn_id")))


def _unstated(found: pl.DataFrame) -> pl.DataFrame:
    """Return candidates without a statement."""
    nothing = dict.fromkeys(("entity", "relation", "object", "who", "topic", "phase", "expires_at"), pl.lit(None))
    return _shaped(found.with_columns(polarity=pl.lit(0), lasting=pl.lit(False), said=pl.col("content"), **nothing))


def _call_texts(calls: str) -> list[str]:
    return [episode_of_tool_call(call) for call in orjson.loads(calls)]


def _mentions(found: pl.DataFrame) -> pl.DataFrame:
    """Return the typed ids that each distinct content names, joined by spaces, which no slug contains."""
    distinct = found.select(pl.col("content").unique(maintain_order=True))
    named = entities_frame(distinct.rename({"content": "text"}))
    return (
        named.group_by("index", maintain_order=True)
        .agg(pl.concat_str("type", pl.lit(":"), "slug").unique(maintain_order=True).alias("mentions"))
        .join(distinct.with_row_index("index"), on="index")
        .select("content", mentions=pl.col("mentions").list.join(" "))
    )


def _candidates(found: pl.DataFrame, tenant_id: str) -> list[Candidate]:
    rows = found.select(*_FOUND.names(), "mentions").iter_rows()
    return [
        Candidate(
            id=candidate_id(said_at, tenant_id, subject_id, kind, turn_id, origin, order),
            subject_id=subject_id,
            kind=kind,
            content=(sentence if phase else owned)(content, speaker, subject_id),
            importance=base,
            polarity=polarity,
            happened_at=said_at,
            mentions=tuple(mentions.split(" ")) if mentions else (),
            turn_id=UUID(turn_id),
            session_id=session_id,
            origin=origin,
            statement=Proposition(relation=relation, object=what, who=who, topic=topic, phase=phase) if phase else None,
            lasting=lasting,
            expires_at=expires_at,
        )
        for (
            turn_id, subject_id, session_id, speaker, said_at, order, kind, content, polarity, base, _, origin,
            relation, what, who, topic, phase, lasting, expires_at, _, mentions
        ) in rows
    ]  # fmt: skip
