"""Drops sensitive candidates and other texts unless the message is about their class; pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from uuid import UUID

from reverie.language.sensitive.classes import classes_among, is_always_told
from reverie.policy.sensitivity import SensitiveClass, SensitivityPolicy
from reverie.recall.places.replacements import Candidates


@dataclass(frozen=True, slots=True)
class VectorClasses:
    """The sensitive classes found by vector, besides those of the rules: of the message, and of items that have any."""

    message: frozenset[SensitiveClass] = frozenset()
    items: Mapping[UUID, frozenset[SensitiveClass]] = field(default_factory=dict)


def without_sensitive(
    candidates: Candidates,
    message: str,
    withheld: Collection[SensitiveClass],
    *,
    near: float,
    among: int,
    by_vector: VectorClasses | None = None,
) -> Candidates:
    """Return candidates; the sensitive ones among the best `among` are dropped as `sensitive`. About 0.2 ms each.

    A candidate stays if the message speaks of its class, if its similarity to the message is at least `near`, or if it
    is about allergies or diets. Candidates beyond `among` are not checked, and are dropped too. A candidate that stays
    loses the question that it answers if that is sensitive.
    """
    told = by_vector or VectorClasses()
    asked = classes_among(message, frozenset(withheld)) | told.message
    left = frozenset(withheld) - asked
    if not left:
        return candidates
    passing = (place for place, (_, reason) in enumerate(candidates) if reason is None)
    last = max(islice(passing, among), default=-1)
    kept: Candidates = []
    for place, (hit, reason) in enumerate(candidates):
        if reason is None and (
            place > last
            or (
                hit.measured("similarity") < near
                and (left & told.items.get(hit.id, frozenset()) or classes_among(hit.content, left))
                and not is_always_told(hit.content)
            )
        ):
            reason = "sensitive"
        if reason is None and hit.reply_to and _is_withheld(hit.reply_to.content, left):
            hit = hit._replace(reply_to=None)
        kept.append((hit, reason))
    return kept


def _is_withheld(text: str, left: frozenset[SensitiveClass]) -> bool:
    return bool(classes_among(text, left)) and not is_always_told(text)


def may_be_told(message: str, texts: Sequence[tuple[str, float]], policy: SensitivityPolicy) -> list[bool]:
    """Return for each text, given with its similarity to a message, whether the message may bring it up."""
    left = frozenset(policy.withhold) - classes_among(message, frozenset(policy.withhold))
    return [
        not left or similarity >= policy.withhold_similarity or not _is_withheld(text, left)
        for text, similarity in texts
    ]
