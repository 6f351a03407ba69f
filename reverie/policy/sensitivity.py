"""The `[sensitivity]` heading: what becomes of what is sensitive (Agent 9)."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from reverie.policy.table import Days, Share, Table

SensitiveClass = Literal[
    "health", "finances", "sexuality", "religion", "politics", "minors", "credentials", "third_parties"
]
SENSITIVE_CLASSES: tuple[SensitiveClass, ...] = get_args(SensitiveClass)


class SensitivityPolicy(Table):
    """Rules by class (docs/sensitivity.md)."""

    #: Whether passwords, PINs, keys and numbers of cards, accounts and documents are taken out of texts before the log.
    redact_secrets: bool = False
    #: Days after which a statement of a class is forgotten, whatever its kind; the shortest of its classes counts.
    keep_days: dict[SensitiveClass, Days] = Field(default_factory=dict)
    #: Classes that a message does not bring up: they are recalled by questions and requests, by messages of the same
    #: class, and by those that are at least so similar. Allergies and diets are always recalled.
    withhold: tuple[SensitiveClass, ...] = ()
    withhold_similarity: Share = 0.4
    #: Whether stored vectors tell what is withheld, beside rules; only those of `minilm` do.
    by_vector: bool = False
    #: Classes of which an export leaves rows out, in the log as in memory.
    not_exported: tuple[SensitiveClass, ...] = ()
