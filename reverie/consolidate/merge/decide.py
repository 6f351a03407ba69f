"""Decides on merges. Candidates are taken in event order, so the result does not depend on how the work is cut."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from uuid import UUID

from reverie.consolidate.isolate import is_unexpected
from reverie.consolidate.merge.same import why_not_same
from reverie.language.contradiction import contradiction, specificity
from reverie.language.cues.keeping import OWN_WORDS, REST
from reverie.language.objects import differ_in_numbers_alone
from reverie.model import Kind, Phase
from reverie.model.arrival import Arrival, arrival
from reverie.policy import Policy
from reverie.policy.fading import as_real

#: Two memories and their cosine.
Pair = tuple[UUID, UUID, float]


@dataclass(slots=True)
class NearMemory:
    """A memory in a near pair, as `decide_merges` reads and changes it."""

    id: UUID
    subject_id: str
    kind: Kind
    state: str
    content: str
    polarity: int
    peak: float
    happened_at: datetime
    accessed_at: datetime
    access_count: int
    #: Session of its turn; None, like the next two, if it was not made from a turn.
    session_id: str | None = None
    turn_index: int | None = None
    turn_id: UUID | None = None
    lasting: bool = False
    expires_at: datetime | None = None
    who: str | None = None
    relation: str | None = None
    topic: str | None = None
    object: str | None = None
    phase: Phase | None = None
    #: the rule that wrote it
    origin: str = ""
    #: Whether a person pinned it, so that it does not fade.
    pinned: bool = False

    @property
    def order(self) -> tuple[datetime, Arrival, UUID]:
        """Sort key: event time, then arrival."""
        return self.happened_at, arrival(self.session_id, self.turn_index, self.turn_id), self.id


@dataclass(frozen=True, slots=True)
class Merge:
    """One merge: the memories that it joins, and the gain of the survivor."""

    loser: NearMemory
    survivor: NearMemory
    similarity: float
    #: Importance of the survivor at the time of the later of the two, without the merge and with it.
    peak_before: float
    peak_after: float


@dataclass(slots=True)
class MergeDecision:
    """The merges to write, and the pairs that were kept apart."""

    merges: list[Merge] = field(default_factory=list)
    #: Number of near pairs that are not the same, by reason.
    kept_apart: Counter[str] = field(default_factory=Counter)
    #: Candidates that could not be compared with a near memory, and so are not merged with it.
    failed: list[tuple[NearMemory, Exception]] = field(default_factory=list)

    def root(self) -> dict[UUID, UUID]:
        """Return the final survivor of each loser."""
        into = {merge.loser.id: merge.survivor.id for merge in self.merges}
        for loser in reversed(into):
            into[loser] = into.get(into[loser], into[loser])
        return into

    def survivors(self) -> list[NearMemory]:
        """Return the survivors, with those that were merged into another memory in turn: they keep their gains."""
        return list({merge.survivor.id: merge.survivor for merge in self.merges}.values())


def decide_merges(
    members: Sequence[NearMemory], pairs: Iterable[Pair], apart: Iterable[tuple[UUID, UUID]], policy: Policy
) -> MergeDecision:
    """Merge each candidate, in event order, with the nearest live memory that says the same; changes `members`.

    `pairs` are above the threshold, within a subject and kind; `apart` are pairs that a person keeps apart.
    """
    known = {member.id: member for member in members}
    near: dict[UUID, list[tuple[float, UUID]]] = defaultdict(list)
    for first_id, second_id, similarity in pairs:
        near[first_id].append((-similarity, second_id))
        near[second_id].append((-similarity, first_id))
    parted = {frozenset(pair) for pair in apart}
    live = {member.id for member in members if member.state in ("active", "superseded")}
    decision = MergeDecision()
    candidates = (member for member in members if member.state == "candidate")
    for candidate in sorted(candidates, key=attrgetter("order")):
        live.add(candidate.id)
        for distance, other_id in sorted(near[candidate.id], key=lambda pair: (pair[0], known[pair[1]].order)):
            if other_id not in live:
                continue
            other = known[other_id]
            try:
                if reason := _why_apart(candidate, other, -distance, parted, policy):
                    decision.kept_apart[reason] += 1
                    continue
                merge = _merge(candidate, other, -distance, policy)
            except Exception as error:
                if not is_unexpected(error):
                    raise
                decision.failed.append((candidate, error))
                continue
            live.discard(merge.loser.id)
            decision.merges.append(merge)
            break
    return decision


def _why_apart(
    memory: NearMemory, other: NearMemory, similarity: float, parted: set[frozenset[UUID]], policy: Policy
) -> str | None:
    if frozenset((memory.id, other.id)) in parted:
        return "correction"
    if _is_over(memory, other):
        return "expired"
    if memory.origin == REST and other.state == "superseded":
        # what an ended sentence left: merged into the sentence, it would put that in force again
        return "rest"
    if policy.merge.near is not None:
        if _is_told_anew(memory, other):
            return None
        return why_not_same(memory, other, similarity, policy.merge.probability, _one_valued(policy, memory.relation))
    if memory.polarity * other.polarity < 0:
        return "polarity"
    return contradiction(memory.content, other.content)


def _one_valued(policy: Policy, relation: str | None) -> frozenset[str]:
    """Return the relation if it has one object at a time, else nothing."""
    known = policy.extract.relations.get(relation) if relation else None
    return frozenset((relation,)) if relation and known and known.values == "one" else frozenset()


def _is_told_anew(memory: NearMemory, other: NearMemory) -> bool:
    """Return whether a passing thing is told again in another session with other numbers: "We served 9 meals".

    The later of the two may last, as the reader takes one such sentence for passing and the next for lasting.
    """
    earlier, later = sorted((memory, other), key=attrgetter("order"))
    is_own = all(one.origin == OWN_WORDS and one.state != "superseded" for one in (earlier, later))
    is_anew = is_own and not earlier.lasting and earlier.session_id != later.session_id
    return is_anew and differ_in_numbers_alone(earlier.content, later.content)


def _is_over(memory: NearMemory, other: NearMemory) -> bool:
    """Return whether the earlier memory had expired before the later one: a plan that is made again is a new one."""
    earlier, later = sorted((memory, other), key=attrgetter("happened_at"))
    return earlier.expires_at is not None and earlier.expires_at <= later.happened_at


def _merge(candidate: NearMemory, other: NearMemory, similarity: float, policy: Policy) -> Merge:
    """Let the more specific text survive (docs/design-sources.md, Brain 4.3), or the earlier one on a tie.

    So a repeat, however often it comes, does not change the id, links and lineage of the known memory. Of what is told
    anew with other numbers, the later survives.
    """
    earlier, later = sorted((candidate, other), key=attrgetter("order"))
    more = specificity(later.content) > specificity(earlier.content) or _is_told_anew(earlier, later)
    # other memories point to a superseded one, so a repeat joins it; the stage facts decides what holds
    survivor, loser = (later, earlier) if more and earlier.state != "superseded" else (earlier, later)
    at = max(earlier.accessed_at, later.accessed_at, later.happened_at)
    worth = {
        member.id: policy.fading.value_at(
            survivor.kind, member.peak, member.accessed_at, at, lasting=member.lasting or member.pinned
        )
        for member in (survivor, loser)
    }
    after = as_real(min(1.0, max(worth.values()) + policy.merge.reinforce))
    survivor.peak, survivor.accessed_at = after, at
    survivor.access_count += loser.access_count
    survivor.lasting |= loser.lasting
    survivor.pinned |= loser.pinned
    if survivor.lasting:
        survivor.expires_at = None
    elif survivor.expires_at and loser.expires_at:
        survivor.expires_at = max(survivor.expires_at, loser.expires_at)
    return Merge(loser, survivor, similarity, worth[survivor.id], after)
