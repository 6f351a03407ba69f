"""The `[sensitivity]` heading: how sensitive statements are treated (Agent 9)."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from reverie.policy.table import Days, Share, Table

SensitiveClass = Literal[
    "health", "finances", "sexuality", "religion", "politics", "minors", "credentials", "third_parties"
]
SENSITIVE_CLASSES: tuple[SensitiveClass, ...] = get_args(SensitiveClass)


class SensitivityPolicy(Table):
    """Rules for sensitive classes (docs/sensitivity.md)."""

    #: Whether passwords, PINs, keys and numbers of cards, accounts and documents are redacted before texts are logged.
    redact_secrets: bool = False
    #: Days after which a statement of a class is forgotten, whatever its kind; of several classes, the shortest counts.
    keep_days: dict[SensitiveClass, Days] = Field(default_factory=dict)
    #: Classes withheld from messages, except from messages of the same class and similar ones. Questions and requests
    #: recall them. Allergies and diets are always recalled.
    withhold: tuple[SensitiveClass, ...] = ()
    #: Similarity from which a message recalls a withheld statement.
    withhold_similarity: Share = 0.4
    #: Whether stored vectors, besides rules, decide what is withheld; this needs the model `minilm`.
    by_vector: bool = False
    #: Classes whose rows are left out of exports, from the log as from memory.
    not_exported: tuple[SensitiveClass, ...] = ()
