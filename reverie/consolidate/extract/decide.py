"""Which candidates a batch of turns gives: pure, over a polars frame (spec A3, A8)."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import polars as pl

from reverie.language.cues import Rules, extract_frame
from reverie.language.cues.attribution import veil_expr
from reverie.language.cues.entities import entities_frame
from reverie.language.cues.immediate import DONE, SHORT_CHARACTERS, TOLD
from reverie.language.cues.salience import salience_expr
from reverie.language.cues.speech import episode_of_tool_call, eventful_expr, is_question_expr, low_content_expr
from reverie.language.text import CountTokens, chunk, owned, strip_invisible
from reverie.model import candidate_id
from reverie.policy import Policy
from reverie.policy.fading import forget_at

Columns = dict[str, list[Any]]

#: Columns of candidates for SQL; the last two only a language model fills.
CANDIDATES = (
    "ids", "subject_ids", "kinds", "contents", "polarities", "bases", "happened_at", "forget_at", "mentions",
    "turn_ids", "session_ids", "origins", "models", "stated",
)  # fmt: skip
#: What rules leave empty.
BY_RULE: Columns = {"models": [], "stated": []}


def decide(
    turns: pl.DataFrame, tenant_id: str, policy: Policy, rules: Rules, count_tokens: CountTokens
) -> tuple[Columns, Columns]:
    """Return the candidates and a verdict on each turn, both as columns for SQL.

    `turns` has id (str), subject_id, session_id, role, speaker, said_at, text and tool_calls (JSON, str).
    Why a turn gave none: `role` (not one whose words are kept), `low_content`, `question`, `quoted` (it quotes others,
    and no rule found anything in the author's own words), `no_rule`. Whether it `waits`
    for a language model: a person said it, and it says something.
    """
    seen = turns.with_columns(pl.col("text").map_batches(_visible, return_dtype=pl.String))
    marked = seen.with_row_index("index").with_columns(
        spoken=pl.col("role").is_in(list(policy.extract.roles)),
        low=low_content_expr(pl.col("text"), rules),
        asks=is_question_expr(pl.col("text")),
        quotes=veil_expr(pl.col("text")) != pl.col("text"),
    )
    read = marked.filter("spoken", ~pl.col("low")).drop("index").with_row_index("read")
    found = pl.concat([_stated(read, rules), _told(read, policy, rules, count_tokens), _done(marked, policy)])
    found = found.sort("turn_id", "order")
    every = dict(found.group_by("turn_id").len().iter_rows())
    found = found.group_by("turn_id", maintain_order=True).head(policy.extract.turn_candidates).select(_FOUND.names())
    found = found.join(_mentions(found), on="content", how="left").with_columns(
        pl.when(pl.col("entity").is_null())
        .then("mentions")
        .otherwise(pl.concat_str("entity", "mentions", separator=" ", ignore_nulls=True))
        .alias("mentions")
    )
    if policy.importance.mode == "novelty_salience":
        found = found.with_columns(base=salience_expr(pl.col("content"), policy.salience))
    candidates = _columns(found.sort("turn_id", "order"), tenant_id, policy)
    most = policy.extract.turn_candidates
    verdicts = marked.select(
        "id",
        "subject_id",
        reason=pl.when(~pl.col("spoken"))
        .then(pl.lit("role"))
        .when("low")
        .then(pl.lit("low_content"))
        .when("asks")
        .then(pl.lit("question"))
        .when("quotes")
        .then(pl.lit("quoted"))
        .otherwise(pl.lit("no_rule")),
        told=pl.col("spoken") & ~pl.col("low") & (pl.col("role") == "user") & (pl.col("text") != ""),
    ).rows()
    return candidates, {
        "turn_ids": [row[0] for row in verdicts],
        "subject_ids": [row[1] for row in verdicts],
        "candidates": [min(every.get(row[0], 0), most) for row in verdicts],
        "left_out": [max(every.get(row[0], 0) - most, 0) for row in verdicts],
        "reasons": [None if row[0] in every else row[2] for row in verdicts],
        "waits": [row[3] and policy.extract.model.notes > 0 for row in verdicts],
    }


def _visible(texts: pl.Series) -> pl.Series:
    """The texts without invisible characters; of plain ones none is touched."""
    places = texts.str.contains(r"[^\n\r\t -~]").arg_true()
    return texts.scatter(places, [strip_invisible(text) for text in texts.gather(places)]) if len(places) else texts


#: What every way of finding candidates gives.
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
    }
)


def _shaped(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(_FOUND.names()).cast(_FOUND)


def _stated(read: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """What the rules find: facts, preferences and instructions."""
    hits = extract_frame(read.select("text"), rules).rename({"rule": "origin", "importance": "base"})
    joined = hits.join(read.drop("text"), left_on="index", right_on="read")
    return _shaped(joined.rename({"id": "turn_id"}).with_columns(order=pl.col("start")))


def _told(read: pl.DataFrame, policy: Policy, rules: Rules, count_tokens: CountTokens) -> pl.DataFrame:
    """Turns kept as episodes, long ones in chunks (Contact 3.1, Logic 1.3)."""
    wanted = {"none": pl.lit(False), "all": pl.col("text") != "", "eventful": eventful_expr(pl.col("text"), rules)}
    told = read.filter(wanted[policy.extract.episodes])

    def pieces(text: str) -> list[str]:
        if len(text) <= SHORT_CHARACTERS:
            return [text]
        return chunk(text, count_tokens, min_tokens=policy.chunk.min_tokens, max_tokens=policy.chunk.max_tokens)

    return _shaped(
        told.rename({"id": "turn_id"})
        .with_columns(content=pl.col("text").map_elements(pieces, return_dtype=pl.List(pl.String)))
        .explode("content")
        .with_columns(
            order=TOLD + pl.int_range(pl.len()).over("turn_id"),
            kind=pl.lit("episode"),
            polarity=pl.lit(0),
            base=pl.lit(policy.extract.importance.episode),
            entity=pl.lit(None),
            origin=pl.lit("turn"),
        )
    )


def _done(marked: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    """Tool calls as episodes of what was done and why (Brain 4.2)."""
    if not policy.extract.tool_episodes:
        return pl.DataFrame(schema=_FOUND)
    called = marked.filter(pl.col("tool_calls").is_not_null()).rename({"id": "turn_id"})
    return _shaped(
        called.with_columns(
            content=pl.col("tool_calls").map_elements(_episodes, return_dtype=pl.List(pl.String)),
            speaker=pl.lit(None),
        )
        .explode("content")
        .drop_nulls("content")
        .with_columns(
            order=DONE + pl.int_range(pl.len()).over("turn_id"),
            kind=pl.lit("episode"),
            polarity=pl.lit(0),
            base=pl.lit(policy.extract.importance.episode),
            entity=pl.lit(None),
            origin=pl.lit("tool_call"),
        )
    )


def _episodes(calls: str) -> list[str]:
    import orjson

    return [episode_of_tool_call(call) for call in orjson.loads(calls)]


def _mentions(found: pl.DataFrame) -> pl.DataFrame:
    """Typed ids that each distinct content names, joined by spaces; slugs hold none."""
    distinct = found.select(pl.col("content").unique(maintain_order=True))
    named = entities_frame(distinct.rename({"content": "text"}))
    return (
        named.group_by("index", maintain_order=True)
        .agg(pl.concat_str("type", pl.lit(":"), "slug").unique(maintain_order=True).alias("mentions"))
        .join(distinct.with_row_index("index"), on="index")
        .select("content", mentions=pl.col("mentions").list.join(" "))
    )


def _columns(found: pl.DataFrame, tenant_id: str, policy: Policy) -> Columns:
    columns: Columns = {name: [] for name in CANDIDATES[:-2]}
    numbers = {
        "grace_days": policy.decay.grace_days,
        "below": policy.prune.below,
        "unaccessed_days": policy.prune.unaccessed_days,
    }
    for row in found.iter_rows(named=True):
        said_at: datetime = row["said_at"]
        subject_id, kind, origin = row["subject_id"], row["kind"], row["origin"]
        values = (
            candidate_id(said_at, tenant_id, subject_id, kind, row["turn_id"], origin, row["order"]), subject_id, kind,
            owned(row["content"], row["speaker"], subject_id), row["polarity"], row["base"],
            said_at, forget_at(row["base"], said_at, rate=policy.decay.rates[kind], **numbers),
            row["mentions"] or "", UUID(row["turn_id"]), row["session_id"], origin,
        )  # fmt: skip
        for name, value in zip(columns, values, strict=True):
            columns[name].append(value)
    return columns
