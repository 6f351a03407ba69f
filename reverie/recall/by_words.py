"""Words in the place of vectors, under a policy that searches vectors alone."""

from __future__ import annotations

from reverie.policy import Policy

#: Signals that compare words.
_WORDS = ("lexical", "answers")


def searches_words(policy: Policy) -> bool:
    """Whether the policy's own weights make words find anything."""
    return any(policy.recall.weights.get(name, 0.0) for name in _WORDS)


def by_words(policy: Policy) -> Policy:
    """Return the policy with the weight of similarity on the words, and without a limit on similarity."""
    weights = dict(policy.recall.weights)
    weights["lexical"] = weights.pop("similarity", 0.0) or 1.0
    return policy.model_copy(
        update={"recall": policy.recall.model_copy(update={"weights": weights, "min_similarity": -1.0})}
    )
