"""Applies the rule table to a frame of turns with polars: the engine of batches, with the same matches as `single`.

One pass over literals finds the clauses with cues, and the rules to try on each. A regex runs only on such pairs.
"""

import polars as pl

from reverie.language.cues import wording
from reverie.language.cues.attribution import unveil_expr, veil_expr
from reverie.language.cues.compiled import Compiled, Rules

SCHEMA = pl.Schema(
    {
        "index": pl.UInt32,
        "rule": pl.String,
        "kind": pl.String,
        "content": pl.String,
        "value": pl.String,
        "polarity": pl.Int8,
        "entity": pl.String,
        "importance": pl.Float64,
        "category": pl.String,
        "key": pl.String,
        "corrects": pl.Boolean,
        "start": pl.UInt32,
        "end": pl.UInt32,
    }
)
"""One row per match: `index` is the row of the turn in the frame, the others are the fields of `RuleMatch`."""


def extract_frame(frame: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Return the statements of the turns in the column `text`, in the order of `extract_one`; see `SCHEMA`."""
    matches = [_matches(rules.compiled[order], tried) for (order,), tried in _tries(frame, rules).group_by("order")]
    if not matches:
        return SCHEMA.to_frame()
    clause, x, y = pl.col("clause"), pl.col("x"), pl.col("y")
    content = unveil_expr(wording.third_person_expr(pl.concat_str("before", x, "between", y.fill_null(""), "after")))
    named = wording.name_slug_expr(unveil_expr(pl.when("entity_of_y").then(y).otherwise(x)))
    lead = clause.str.len_chars() - clause.str.strip_chars_start(wording.EDGES).str.len_chars()
    asking = clause.str.strip_chars_end(wording.CLOSERS).str.ends_with("?")
    empty = rules.empty.rust if rules.empty else "^$"
    for_questions = [compiled.order for compiled in rules.compiled if compiled.rule.question]
    return (
        pl.concat(matches)
        .lazy()
        .filter(~asking | pl.col("order").is_in(for_questions))
        .filter(~clause.str.contains(rules.guard.rust) if rules.guard else pl.lit(True))
        .with_columns(wording.value_expr(x), wording.value_expr(y))
        .filter(*(group.is_null() | ((group != "") & ~group.str.contains(empty)) for group in (x, y)))
        .join(rules.frame.lazy(), on="order")
        .sort("index", "clause_start", "order")
        .unique(["index", "clause_start"], keep="first", maintain_order=True)
        .with_columns(
            content=content.str.slice(0, 1).str.to_uppercase() + content.str.slice(1),
            value=unveil_expr(x),
            entity=pl.when(named != "").then(pl.concat_str("entity_type", pl.lit(":"), named)),
            corrects=clause.str.contains(rules.corrects.rust) if rules.corrects else pl.lit(False),
            start=pl.col("clause_start") + lead,
            end=pl.col("clause_start") + clause.str.strip_chars_end(" \n").str.len_chars(),
        )
        .select(SCHEMA.names())
        .cast(SCHEMA)
        .collect()
    )


def _tries(frame: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """One row per clause and rule to try on it: index, order, clause, clause_start."""
    cues, clause, size = list(rules.by_cue), pl.col("clause"), pl.col("clause").str.len_chars()
    orders = pl.LazyFrame(
        {"cue": cues, "order": list(rules.by_cue.values())}, schema={"cue": pl.String, "order": pl.List(pl.UInt32)}
    ).explode("order")
    own = frame.select(veil_expr(pl.col("text")))
    marked = own.lazy().select(clause=wording.marked_expr(pl.col("text"))).with_row_index("index").collect().lazy()
    # One pass over literals finds cues and clause ends. The number of ends before a cue is the number of its clause.
    literals = clause.str.to_lowercase().str.extract_many([*cues, wording.SEPARATOR], overlapping=True)
    cued = (
        marked.select("index", cue=literals)
        .explode("cue")
        .with_columns(number=pl.col("index") + (pl.col("cue") == wording.SEPARATOR).cum_sum())
        .filter(pl.col("cue") != wording.SEPARATOR)
        .join(orders, on="cue")
        .select("order", "number")
        .collect()
    )
    # Clauses tile their turn: a clause starts at the total length of the clauses before it, less that of earlier turns.
    clauses = (
        marked.with_columns(clause.str.split(wording.SEPARATOR))
        .explode("clause")
        .select("index", "clause", end=size.cum_sum())
        .with_columns(clause_start=pl.col("end") - size)
        .with_columns(clause_start=pl.col("clause_start") - pl.col("clause_start").first().over("index"))
        .collect()
    )
    return clauses.select("index", "clause", "clause_start")[cued["number"]].with_columns(cued["order"])


def _matches(compiled: Compiled, tried: pl.DataFrame) -> pl.DataFrame:
    """The clauses that match a rule, with the captured groups: index, order, clause, clause_start, x, y."""
    matching = tried.filter(tried["clause"].str.contains(compiled.rust))
    groups = matching["clause"].str.extract_groups(compiled.rust).struct
    y = groups.field("y") if "y" in compiled.pattern.groupindex else pl.lit(None, pl.String)
    return matching.with_columns(x=groups.field("x"), y=y)
