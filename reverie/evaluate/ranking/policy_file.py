"""Adopted weights as a policy file."""

from __future__ import annotations

from collections.abc import Iterable

from reverie.evaluate.ranking.fitting import FittedKind


def policy_text(base: str, adopted: Iterable[FittedKind]) -> str:
    """Return a policy file on `base` with the weights of these kinds."""
    parts = [f'# Weights by `reverie fit-ranking`.\nbase = "{base}"\n']
    for each in adopted:
        lines = [f"{name} = {weight}" for name, weight in each.after.items()]
        parts.append("\n".join((f"[recall.query_weights.{each.kind}]", *lines)) + "\n")
    return "\n".join(parts)
