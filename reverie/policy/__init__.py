"""The numbers and choices by which memory is made.

Five shipped policies hold the numbers of the five seeds; the sixth, `reverie`, is our own and the default. A user
copies
one, changes it and passes its path. `policy` reads a file; `extract` is its rule table, `numbers` its other headings.
"""

from reverie.policy.extract import Extract, Rule, Salience
from reverie.policy.numbers import (
    SIGNALS,
    Chunking,
    Compress,
    Decay,
    Importance,
    Merge,
    Prune,
    Recall,
    Relationship,
)
from reverie.policy.policy import Policy, load_policy, shipped_policies

__all__ = [
    "SIGNALS",
    "Chunking",
    "Compress",
    "Decay",
    "Extract",
    "Importance",
    "Merge",
    "Policy",
    "Prune",
    "Recall",
    "Relationship",
    "Rule",
    "Salience",
    "load_policy",
    "shipped_policies",
]
