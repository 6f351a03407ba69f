"""Entries that rules take from observations: scaffold updates, and the context of connections. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from reverie.consolidate.synthesize.observations import Observation, ProfileFindings
from reverie.model import stable_id
from reverie.model.scaffold import ProfileEntry, entry_text, scaffold_leaves
from reverie.policy import Policy


def findings_of_rules(
    tenant_id: str, subject_id: str, observations: Sequence[Observation], policy: Policy
) -> ProfileFindings:
    """Return the entries that observations state as keys and values; others become memories or need a model."""
    findings, numbers = ProfileFindings(), policy.profile
    for each in observations:
        if each.key is None or each.type not in ("scaffold_update", "connection_context"):
            continue
        of_connection = each.type == "connection_context"
        depth = 1 if of_connection else numbers.depth
        for path, value, confidence in scaffold_leaves({each.key: each.content}, depth=depth):
            if len(entry_text(path, value)) > numbers.excerpt_letters:
                findings.discard("too_long")
                continue
            entry = ProfileEntry(
                id=_entry_id(each, tenant_id, subject_id, path),
                connection_id=each.connection_id or "" if of_connection else "",
                path=path,
                value=value,
                confidence=getattr(numbers.confidence, each.basis) if confidence is None else confidence,
                basis=each.basis,
                valid_from=each.at,
                sources=(each.id,),
            )
            findings.entries.append(entry)
    return findings


def _entry_id(observation: Observation, tenant_id: str, subject_id: str, path: Sequence[str]) -> UUID:
    return stable_id(observation.at, "scaffold", tenant_id, subject_id, str(observation.id), *path)
