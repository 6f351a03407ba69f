"""The update of one subject's profile, from its observations and a language model's reply. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from reverie.consolidate.synthesize.observations import Observation, ProfileFindings, StoredProfile, SynthesizedFact
from reverie.consolidate.synthesize.reply_reader import ReplyReader, ShownReply
from reverie.consolidate.synthesize.rules import findings_of_rules
from reverie.model.scaffold import EntryRecord, ProfileEntry, resolve_entries
from reverie.policy import Policy


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileUpdate:
    """The changes to write for one subject."""

    subject_id: str
    #: Observations that the profile now includes.
    observations: Sequence[Observation]
    #: Whether it includes a model's reply.
    asked: bool
    changed: Sequence[EntryRecord] = ()
    added: Sequence[EntryRecord] = ()
    #: Entries that are based on something that a person found wrong.
    wrong: Sequence[UUID] = ()
    #: New narrative; if empty, the stored one stays.
    narrative: str = ""
    told_until: datetime
    made_at: datetime
    facts: Sequence[SynthesizedFact] = ()
    discarded: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class PostponedSubject:
    """A subject that waits for the next cycle because the reply about it was unusable."""

    subject_id: str
    #: Unusable replies in a row.
    failures: int
    #: Code of the reason for the missing reply.
    reason: str | None


def decide_update(
    tenant_id: str, profile: StoredProfile, answered: ShownReply | None, policy: Policy, *, as_of: datetime
) -> ProfileUpdate:
    """Return the update of a profile by its observations, from rules and from a model's reply if there is one."""
    subject_id, observations = profile.subject_id, profile.observations
    findings = findings_of_rules(tenant_id, subject_id, observations, policy)
    reply = ProfileFindings()
    if answered is not None:
        after_rules, _ = _resolved(profile.records, findings.entries, policy)
        reply = ReplyReader(tenant_id, subject_id, answered, observations, after_rules, policy).findings()
    records, surplus = _resolved(profile.records, [*findings.entries, *reply.entries], policy)
    before = {record.entry.id: record for record in profile.records}
    latest = observations[-1].at
    return ProfileUpdate(
        subject_id=subject_id,
        observations=observations,
        asked=answered is not None,
        changed=[each for each in records if each.entry.id in before and before[each.entry.id] != each],
        added=[each for each in records if each.entry.id not in before],
        wrong=profile.wrong,
        narrative=reply.narrative if reply.narrative != profile.narrative else "",
        told_until=max(profile.told_until or latest, latest),
        # a late observation counts at its own time, but its narrative must not replace one that was made later
        made_at=max(profile.made_at or as_of, as_of),
        facts=reply.facts,
        discarded=Counter(findings.discarded) + Counter(reply.discarded) + Counter(no_room=len(surplus)),
    )


def _resolved(
    records: Iterable[EntryRecord], new: Iterable[ProfileEntry], policy: Policy
) -> tuple[list[EntryRecord], set[UUID]]:
    known = [record.entry for record in records]
    ids = {entry.id for entry in known}
    added = [entry for entry in new if entry.id not in ids]
    return resolve_entries([*known, *added], most=policy.profile.entries, known=ids)
