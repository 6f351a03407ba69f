"""The best of the ranked candidates that fit the answer (spec D5; Logic 2.6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reverie.model import rounded
from reverie.recall.result import Drop, Hit, drop

#: Kinds that get their tokens first: small, and critical for consistent behaviour (Logic 2.6).
PROCEDURAL = ("preference", "instruction")


def summaries_last(ranked: Sequence[Hit]) -> list[Hit]:
    """Return ranked hits, summaries after all others, which have the original words."""
    return sorted(ranked, key=lambda hit: hit.kind == "summary")


def within_budget(
    ranked: Sequence[Hit],
    *,
    top_k: int,
    token_budget: int,
    count_tokens: Callable[[str], int],
    procedural_first: bool = False,
) -> tuple[list[Hit], list[Drop]]:
    """Return the best `top_k` that fit `token_budget`, in their order, and the others with the reason.

    Among the best `top_k`, preferences and instructions get their tokens first; with `procedural_first` they also come
    before all other hits, whatever the scores. Then tokens go by rank, and a hit that does not fit leaves its place to
    the next that does.
    """
    if procedural_first:
        ranked = sorted(ranked, key=lambda hit: hit.kind not in PROCEDURAL)
    first = sorted(range(min(top_k, len(ranked))), key=lambda place: ranked[place].kind not in PROCEDURAL)
    chosen: dict[int, int] = {}
    left = token_budget
    for place in (*first, *range(top_k, min(4 * top_k, len(ranked)))):
        if len(chosen) == top_k:
            break  # a tokenizer takes longer than everything else here
        tokens = count_tokens(ranked[place].told)
        if tokens <= left:
            chosen[place] = tokens
            left -= tokens
    full, last = len(chosen) == top_k, max(chosen, default=-1)
    dropped = [
        drop(hit, "rank" if full and place > last else "budget")
        for place, hit in enumerate(ranked)
        if place not in chosen
    ]
    hits = [
        ranked[place]._replace(tokens=tokens, score=rounded(ranked[place].score))
        for place, tokens in sorted(chosen.items())
    ]
    return hits, dropped
