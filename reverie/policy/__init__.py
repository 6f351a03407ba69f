"""The numbers and choices by which memory is made.

- `policy`: a policy, read from a TOML file and checked
- `extract`: the `[extract]` and `[salience]` headings: the rule table
- `numbers`: the other headings, each key with its range
- `fading`: how importance fades and when a memory is forgotten

Five shipped policies hold the numbers of the five source designs; the sixth, `reverie`, is our own and the default. A
user copies one, changes it and passes its path.
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
