"""Statements of memories, and known structured facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg import Connection
from psycopg.rows import args_row, class_row, dict_row

from reverie.consolidate.facts.statements import StatedValue
from reverie.language.cues.keeping import OWN_WORDS, REST
from reverie.language.fact_keys import confidences, fact_rules, is_corrected, relation_key, relation_of
from reverie.language.text import plain_name
from reverie.model import READER, Kind, Phase, Proposition, stable_id
from reverie.model.arrival import arrival
from reverie.policy import Policy
from reverie.policy.relations import Relation
from reverie.store.queries import queries


class StatingMemory(NamedTuple):
    """A memory that states something: a tuple in the order of `read_stating`, since there are thousands of rows."""

    id: UUID
    subject_id: str
    #: The memory that it was merged into; None: none.
    into_id: UUID | None
    kind: Kind
    state: str
    content: str
    polarity: int
    happened_at: datetime
    accessed_at: datetime
    peak: float
    forget_at: datetime | None
    lasting: bool
    expires_at: datetime | None
    turn_id: UUID | None
    origin: str
    model: str | None
    #: Category, key, value, confidence and importance; the speaker, if it is not that of the turn.
    stated: dict[str, Any] | None
    #: Confidence of the reader or model that found it, and of both together if both did.
    confidence: float | None
    agreed: float | None
    relation: str | None
    who: str | None
    topic: str | None
    object: str | None
    phase: Phase | None
    valid_from: datetime | None
    valid_to: datetime | None
    superseded_by: UUID | None
    #: The turn that ended it, and its place in the log.
    ended_by: UUID | None
    end_session_id: str | None
    end_turn_index: int | None
    #: Whether the memory that ended it is forgotten.
    is_end_forgotten: bool
    #: The speaker of its turn, or of the memory that it corrects.
    said_by: str | None
    #: Place of its turn in the log.
    session_id: str | None
    turn_index: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownFact:
    """A structured fact as it is stored."""

    id: UUID
    subject_id: str
    speaker: str
    category: str
    key: str
    value: str
    confidence: float
    importance: float
    valid_from: datetime
    valid_to: datetime | None
    replaced_by: UUID | None
    memory_id: UUID
    turn_id: UUID | None
    origin: str
    model: str | None
    #: What it states; None: it has only a key, or was written by an earlier version.
    relation: str | None
    topic: str | None
    object: str | None
    polarity: int | None
    expires_at: datetime | None
    session_id: str | None
    turn_index: int | None
    #: Whether its memory still exists.
    is_stated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """A memory that is new or must be decided on again."""

    id: UUID
    subject_id: str
    relation: str | None
    phase: Phase | None


def read_evidence(conn: Connection[Any], params: Mapping[str, Any]) -> list[Evidence]:
    """Return the memories that require a decision."""
    with conn.cursor(row_factory=class_row(Evidence)) as cursor:
        return cursor.execute(queries("facts")["read_evidence"], params).fetchall()


def read_stating(conn: Connection[Any], params: Mapping[str, Any]) -> list[StatingMemory]:
    """Return the memories of the subjects `dirty` that state something in `relations` or by key."""
    with conn.cursor(row_factory=args_row(StatingMemory)) as cursor:
        return cursor.execute(queries("facts")["read_stating"], params).fetchall()


def read_known(
    conn: Connection[Any], params: Mapping[str, Any], memories: Iterable[StatingMemory], policy: Policy
) -> list[KnownFact]:
    """Return the structured facts that these memories state, and those of `relations` that outlived their memory.

    They include facts that are no longer in force.
    """
    with conn.cursor(row_factory=class_row(KnownFact)) as cursor:
        facts = cursor.execute(queries("facts")["read_facts"], params).fetchall()
    read, decided = {memory.id for memory in memories}, {None, *params["relations"]}

    def is_decided(fact: KnownFact) -> bool:
        found = _relation(fact, policy)
        return (found[0] if found else None) in decided

    return [fact for fact in facts if fact.memory_id in read or (not fact.is_stated and is_decided(fact))]


def read_apart(conn: Connection[Any], params: Mapping[str, Any]) -> set[frozenset[UUID]]:
    """Return the pairs of memories of the subjects `dirty` that a person keeps apart."""
    return {frozenset(pair) for pair in conn.execute(queries("facts")["read_apart"], params)}


def read_ended_relations(conn: Connection[Any], params: Mapping[str, Any]) -> set[str]:
    """Return the relations of the statements that the messages of the memories `evidence` were judged to end.

    They may have been judged in an earlier run, before a cycle of the past decided on those relations: the rest of a
    statement belongs to the cycle of that statement.
    """
    return {row[0] for row in conn.execute(queries("facts")["ended_relations"], params)}


def read_judged(conn: Connection[Any], params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the judged ends of the subjects `dirty`, as long as the message and the memory that ended them exist."""
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(queries("facts")["read_judged"], params).fetchall()


def stated_values(memories: Iterable[StatingMemory], policy: Policy, tenant_id: str) -> Iterator[StatedValue]:
    """Yield the statements of memories: by their relation, else by key."""
    for memory in memories:
        if memory.relation in policy.extract.relations and memory.object is not None:
            yield _of_relation(memory, policy, tenant_id)
        elif value := _of_key(memory, policy, tenant_id):
            yield value


def _of_relation(memory: StatingMemory, policy: Policy, tenant_id: str) -> StatedValue:
    assert memory.relation is not None and memory.object is not None
    relation = policy.extract.relations[memory.relation]
    given = memory.stated or {}
    phase = memory.phase or "holds"
    confidence = _confidence(memory, policy)
    importance = relation.importance
    if importance is None:
        importance = getattr(policy.extract.importance, relation.kind)
    statement = Proposition(relation=memory.relation, object=memory.object, topic=memory.topic)
    # own words may be misread in part: they make no structured fact, unless a model agrees
    is_sure = memory.origin not in (OWN_WORDS, REST) or memory.agreed is not None
    is_key = is_sure and phase in ("holds", "begins", "adds")
    key = relation_key(relation, statement) if is_key else None
    return StatedValue(
        **_common(memory, tenant_id),
        relation=memory.relation,
        topic=(memory.topic or "").casefold(),
        **(_left(memory) if memory.origin == REST else _manner(relation, memory.object, memory.polarity)),
        object=memory.object,
        is_passing=memory.expires_at is not None and relation.lasts == "durable",
        polarity=memory.polarity,
        phase=phase,
        ends=relation.ends,
        category=relation.category if key else None,
        key=key,
        value=_bare(memory) if memory.polarity < 0 else memory.object,
        confidence=confidence,
        sure=_sure(memory.origin, confidence, memory.agreed or memory.confidence, policy),
        importance=given.get("importance", importance),
    )


def _confidence(memory: StatingMemory, policy: Policy) -> float:
    """Return the confidence that is shown: for a statement of the reader its own, or that of both if a model agrees."""
    if is_corrected(memory.origin):
        return 1.0
    if memory.agreed is not None:
        return memory.agreed
    # no structured fact shows that of own words, and a value that is less certain than others would end nothing
    if memory.origin == READER and memory.confidence is not None:
        return memory.confidence
    usual = confidences(policy).get(memory.origin, policy.structured_facts.rule_confidence)
    return float((memory.stated or {}).get("confidence", usual))


def _sure(origin: str, confidence: float, read: float | None, policy: Policy) -> float:
    """Return the confidence for comparisons; `read` is that of the reader, or of the reader and a model together.

    The reader's confidence does not say which of two values is the current one (docs/decisions/0082), unless it is too
    low for the reader to word the statement. Then the statement may be of another relation, and it ends nothing that
    is more certain (docs/decisions/0123). A correction by a person may change later, so it is no more certain than a
    later statement.
    """
    usual = policy.structured_facts.rule_confidence
    if origin not in (READER, OWN_WORDS, REST):
        return min(confidence, usual)
    least = policy.extract.reader.confidence
    return min(usual, least) if read is not None and read < least else usual


#: The slot of values that stand beside each other, apart from all others: denials, and what is off a scale.
_BESIDE = "-"


def _manner(relation: Relation, said: str, polarity: int) -> dict[str, Any]:
    """Return how a value relates to the others of its relation, as fields of `StatedValue`."""
    is_beside = relation.holds_beside(said, polarity)
    return {
        "is_single": relation.values == "one" and not is_beside,
        "slot": _BESIDE if is_beside else "",
        "needs_topic": relation.topic == "thing",
        "is_role": relation.topic == "role",
        "is_use": relation.topic == "use",
        "is_detailed": relation.topic == "detail",
        "is_polar": relation.polar,
        "refers": relation.refers,
        "ends_planned": relation.ends_planned,
    }


def _left(memory: StatingMemory) -> dict[str, Any]:
    """Return a separate place for the rest of a statement: no rule ends it, as its relation is that of the whole."""
    return {"is_single": False, "slot": f"{REST}:{memory.id}"}


def _of_key(memory: StatingMemory, policy: Policy, tenant_id: str) -> StatedValue | None:
    stated, rules = memory.stated, fact_rules(policy)
    if stated is None:
        if memory.origin not in rules:
            return None
        stated = rules[memory.origin].stated(_bare(memory))
    return StatedValue(
        **_common(memory, tenant_id) | stated,
        relation=f"{stated['category']}/{stated['key']}",
        is_keyed=True,
        object=stated["value"],
        sure=stated["confidence"],
    )


def _common(memory: StatingMemory, tenant_id: str) -> dict[str, Any]:
    return {
        "id": stable_id(memory.happened_at, "structured_fact", tenant_id, memory.subject_id, str(memory.id)),
        "subject_id": memory.subject_id,
        "speaker": _about(_speaker(memory), memory.who),
        "valid_from": memory.happened_at,
        "memory_id": memory.id,
        "bearer_id": memory.into_id or memory.id,
        "turn_id": memory.turn_id,
        "origin": memory.origin,
        "model": memory.model,
        "session_id": memory.session_id,
        "turn_index": memory.turn_index,
        "expires_at": memory.expires_at,
    }


def _speaker(memory: StatingMemory) -> str:
    said_by = memory.said_by or ""
    return "" if said_by.casefold() == memory.subject_id.casefold() else said_by


def _about(speaker: str, who: str | None) -> str:
    """Return the person that it is true of: "Priya", "sister", "Priya's sister"; empty for the subject."""
    return f"{speaker}'s {who}" if speaker and who else who or speaker


def _bare(memory: StatingMemory) -> str:
    """Return the content without the name of its speaker."""
    speaker = _speaker(memory)
    return memory.content.removeprefix(f"{plain_name(speaker)}: ") if speaker else memory.content


def outlived_values(
    known: Sequence[KnownFact], memories: Sequence[StatingMemory], policy: Policy, tenant_id: str
) -> list[StatedValue]:
    """Return the statements of forgotten memories: structured facts that are still known, and ends.

    Values that they replaced stay replaced, and so do they: the end of a memory rests on the turn that ended it.
    """
    kept = {memory.id for memory in memories}
    gone = [fact for fact in known if fact.memory_id not in kept]
    replacing = {fact.replaced_by for fact in known}
    values = [_of_fact(fact, policy, begins=fact.id in replacing) for fact in gone]
    values += [
        _end_of(value, fact.id, fact.valid_to, fact.memory_id, tenant_id)
        for value, fact in zip(list(values), gone, strict=True)
        if fact.valid_to is not None and fact.replaced_by is None
    ]
    for memory in memories:
        if memory.is_end_forgotten:
            values += (_lasting_end(value, memory, tenant_id) for value in stated_values([memory], policy, tenant_id))
    return values


def _relation(fact: KnownFact, policy: Policy) -> tuple[str, str | None] | None:
    """Return the relation and the topic of a fact: those that it was written with, else those of its key."""
    if fact.relation in policy.extract.relations:
        return fact.relation, fact.topic
    return relation_of(policy, fact.category, fact.key)


def _of_fact(fact: KnownFact, policy: Policy, *, begins: bool) -> StatedValue:
    relation = _relation(fact, policy)
    table = policy.extract.relations
    names = {name: getattr(fact, name) for name in _OF_FACT}
    said = fact.value if relation is None or fact.object is None else fact.object
    return StatedValue(
        **names,
        relation=relation[0] if relation else f"{fact.category}/{fact.key}",
        is_keyed=relation is None,
        topic=((relation[1] if relation else None) or "").casefold(),
        **({} if relation is None else _manner(table[relation[0]], said, fact.polarity or 0)),
        object=said,
        polarity=fact.polarity or 0,
        phase="holds" if relation is None else "begins" if begins else "adds",
        sure=fact.confidence if relation is None else _sure(fact.origin, fact.confidence, None, policy),
        bearer_id=fact.memory_id,
        is_kept=False,
    )


_OF_FACT = (
    "id", "subject_id", "speaker", "category", "key", "value", "confidence", "importance", "valid_from", "memory_id",
    "turn_id", "origin", "model", "session_id", "turn_index", "expires_at",
)  # fmt: skip


def _lasting_end(value: StatedValue, memory: StatingMemory, tenant_id: str) -> StatedValue:
    """Return the end of a memory by a forgotten statement, at the time of that statement; it ends nothing else."""
    assert memory.valid_to is not None and memory.superseded_by is not None
    end = _end_of(value, memory.superseded_by, memory.valid_to, memory.superseded_by, tenant_id)
    end = replace(end, ends_memory=memory.id)
    after = arrival(memory.end_session_id, memory.end_turn_index, memory.ended_by)
    if (memory.valid_to, after) < (memory.happened_at, arrival(memory.session_id, memory.turn_index, memory.turn_id)):
        return end  # untrue from the beginning: it comes last of its time, like an end without a turn
    return replace(end, turn_id=memory.ended_by, session_id=memory.end_session_id, turn_index=memory.end_turn_index)


def _end_of(value: StatedValue, source: UUID, at: datetime, by: UUID, tenant_id: str) -> StatedValue:
    """Return the end of a value by a forgotten memory."""
    return StatedValue(
        id=stable_id(at, "end", tenant_id, value.subject_id, str(source)),
        subject_id=value.subject_id,
        speaker=value.speaker,
        relation=value.relation,
        is_keyed=value.is_keyed,
        topic=value.topic,
        is_single=value.is_single,
        slot=value.slot,
        is_role=value.is_role,
        object=value.object,
        phase="ends",
        confidence=value.confidence,
        sure=value.sure,
        importance=value.importance,
        valid_from=at,
        memory_id=by,
        bearer_id=by,
        is_kept=False,
        turn_id=None,
        origin=value.origin,
    )
