"""Applies the rule table to a frame of turns with polars: the engine of batches, with the same matches as `single`.

One pass over literals finds the clauses with cues, and the rules to try on each. A regex runs only on such pairs.
"""

from itertools import groupby, starmap
from operator import itemgetter

import polars as pl

from reverie.language.cues import wording
from reverie.language.cues.attribution import veil_expr
from reverie.language.cues.compiled import Compiled, Rules
from reverie.language.statements.reading import Match, RuleMatch, read_clause

#: The row of the turn, and the fields of `Match`.
_COLUMNS = pl.Schema(
    {
        "index": pl.UInt32,
        "order": pl.UInt32,
        "clause": pl.String,
        "start": pl.Int64,
        "x": pl.String,
        "y": pl.String,
        "guarded": pl.Boolean,
    }
)


def extract_frame(frame: pl.DataFrame, rules: Rules) -> list[tuple[int, RuleMatch | str]]:
    """Return the statements in the column `text`, each with the row of its turn, in the order of turns and clauses.

    A clause that matches a rule gives a statement, as `extract_one` finds it, or the reason why it gives none.
    """
    outcomes: list[tuple[int, RuleMatch | str]] = []
    by_clause = groupby(_matches(frame, rules).iter_rows(), key=itemgetter(0, 3))
    for (index, _), rows in by_clause:
        outcome = read_clause(starmap(Match, (row[1:] for row in rows)), rules)
        if isinstance(outcome, str):
            outcomes.append((index, outcome))
        elif outcome:
            outcomes += [(index, found) for found in outcome]
    return outcomes


def _matches(frame: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Return one row per clause and rule that matches it, in order; see `_COLUMNS`."""
    tries = _tries(frame, rules)
    matches = [_of_rule(rules.compiled[order], tried) for (order,), tried in tries.group_by("order")]
    clause = pl.col("clause")
    asks = clause.str.strip_chars_end(wording.CLOSERS).str.ends_with("?")
    guarded = asks | clause.str.contains(rules.guard.rust) if rules.guard else asks
    if not matches:
        return pl.DataFrame(schema=_COLUMNS)
    found = pl.concat(matches).with_columns(guarded=guarded).select(_COLUMNS.names()).unique()
    return found.sort("index", "start", "order").cast(_COLUMNS)


def _tries(frame: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Return one row per clause and rule to try on it: index, order, clause, clause_start."""
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


def _of_rule(compiled: Compiled, tried: pl.DataFrame) -> pl.DataFrame:
    """Return the clauses that match a rule, with the captured groups."""
    matching = tried.filter(tried["clause"].str.contains(compiled.rust))
    groups = matching["clause"].str.extract_groups(compiled.rust).struct
    y = groups.field("y").fill_null("") if "y" in compiled.pattern.groupindex else pl.lit(None, pl.String)
    return matching.with_columns(x=groups.field("x").fill_null(""), y=y, start=pl.col("clause_start").cast(pl.Int64))
