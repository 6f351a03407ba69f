"""Statements of a reader as candidates, in one form for merge, facts and the later stages; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from reverie.consolidate.extract.own_words import each_told_once
from reverie.language.cues.entities import entities_one
from reverie.language.cues.keeping import OWN_WORDS
from reverie.language.cues.salience import salience, unit_of
from reverie.language.cues.wording import name_slug
from reverie.language.english import statement_words
from reverie.language.expiry import day_named, end_named
from reverie.language.objects import object_key, read_object
from reverie.language.statements.holders import holder_key, is_pronoun
from reverie.language.statements.stated import MessageStatement, bare, model_phase, worded_statement
from reverie.language.statements.things import things
from reverie.language.subject import possessive, sentence
from reverie.language.text import owned
from reverie.model import READER, Candidate, Proposition, candidate_id
from reverie.policy import Policy
from reverie.policy.relations import Relation


class ReadTurn(Protocol):
    """A turn whose message was read: a `Turn`, or a row of the log."""

    @property
    def id(self) -> UUID:
        """The id of the turn."""

    @property
    def tenant_id(self) -> str:
        """The tenant."""

    @property
    def subject_id(self) -> str:
        """The subject that memory is about."""

    @property
    def session_id(self) -> str:
        """The session."""

    @property
    def speaker(self) -> str | None:
        """The author's name."""

    @property
    def said_at(self) -> datetime:
        """The event time."""

    @property
    def text(self) -> str:
        """The message."""


#: Places of the ends of replaced values, after those of the statements themselves.
_ENDS_FROM = 1000


def candidates_of(
    statements: Sequence[MessageStatement], turn: ReadTurn, policy: Policy, *, before: Sequence[MessageStatement] = ()
) -> tuple[Candidate, ...]:
    """Return the candidates of a turn's statements, in their order.

    The statements have the form of training/reader/GUIDE.md: spans as they occur in the message, a relation of the
    policy's table. A statement gives no candidate if its relation is unknown, if it has no object, or if it has no own
    words and is less certain than `[structured_facts] min_confidence`. A pronoun as holder ("he") stands for the person
    named by a statement before it, in the message or in `before`, the statements of an earlier message if these are
    known (docs/decisions/0094). If nobody is named, there is no candidate.

    An `event` becomes an episode that mentions what it is about; everything else is a fact, preference or instruction
    that states its relation. A value that is `replaced` gives a second candidate, which ends it by name, unless the new
    value ends it anyway. A holder with the speaker's name is the speaker, and nobody is their own relative or friend.
    The confidence decides only whether a statement is taken: it does not say which of two values is the current one.
    """
    known = policy.extract.relations
    named = [one for one in before if one.relation in known and not (one.holder and is_pronoun(one.holder))]
    taken = {}
    own = read_object(turn.speaker or "").words
    for place, statement in enumerate(map(_trimmed, statements)):
        statement = _over(_reread(statement, turn.text), turn.text)
        relation = known.get(statement.relation)
        if relation is None or not statement.object:
            continue
        if statement.own_words is None and statement.confidence < policy.structured_facts.min_confidence:
            continue
        statement = _with_sort(statement, relation, turn.text)
        about = _about_somebody(_of_speaker(statement, own), named, known)
        if (
            about is None
            or _is_own_relative(about, relation, own)
            or _is_misread(about, relation, statements, turn.text)
        ):
            continue
        named.append(about)
        taken[place] = about
    candidates = []
    for place, about in each_told_once(taken).items():
        relation = known[about.relation]
        candidates.append(_candidate(about, relation, place, turn, policy))
        if (end := _end_of_replaced(about, relation)) is not None:
            candidates.append(_candidate(end, relation, _ENDS_FROM + place, turn, policy))
    return tuple(candidates)


def _capital(said: str) -> str:
    return f"{said[:1].upper()}{said[1:]}"


def _trimmed(statement: MessageStatement) -> MessageStatement:
    """Return the statement without white space around its spans; a blank optional span becomes None."""
    spans = {name: (getattr(statement, name) or "").strip() or None for name in ("holder", "topic", "replaced")}
    return replace(statement, object=statement.object.strip(), **spans)  # type: ignore[arg-type]


def _reread(statement: MessageStatement, text: str) -> MessageStatement:
    """Return the statement with the relation that the words before its object tell: "my father-in-law Otto".

    A reader takes him for a parent, and the number of a passport for one of a phone.
    """
    for misread in statement_words().misread:
        if statement.relation in misread.relations and (
            match := re.search(misread.before, _before(statement.object, text), re.IGNORECASE)
        ):
            return replace(statement, relation=misread.instead, topic=match.groupdict().get("topic") or statement.topic)
    return statement


def _over(statement: MessageStatement, text: str) -> MessageStatement:
    """Return the statement as the end of what the words around it end: "not allergic to peanuts any more"."""
    over = statement_words().over
    if statement.relation not in over.relations or statement.polarity < 0 or statement.phase not in ("holds", "begins"):
        return statement
    before = _before(statement.object, text)
    after = text[len(before) + len(statement.object) :]
    denied = re.search(over.before, before, re.IGNORECASE) and re.search(over.after, after, re.IGNORECASE)
    is_over = denied or re.search(over.alone, before, re.IGNORECASE)
    return replace(statement, phase="ends") if is_over else statement


def _before(said: str, text: str) -> str:
    """Return the text before an object. Its letters may begin a word before it: "my uncle Peter and my son Pete"."""
    found = re.search(rf"(?<!\w){re.escape(said)}(?!\w)", text)
    return text[: found.start()] if found else ""


def _with_sort(statement: MessageStatement, relation: Relation, text: str) -> MessageStatement:
    """Return the statement of a pet with the kind of animal as written before its name, which the reader may miss."""
    if relation.entity != "pet" or statement.phase not in ("holds", "begins", "adds"):
        return statement
    before = re.search(statement_words().people.named, _before(statement.object, text), re.IGNORECASE)
    return replace(statement, topic=before[1]) if before else statement


def _of_speaker(statement: MessageStatement, own: Sequence[str]) -> MessageStatement:
    """Return the statement without its holder if that is the speaker's name; "my sister Ann" is another Ann."""
    is_own = bool(own) and statement.holder is not None and read_object(statement.holder).words == own
    return replace(statement, holder=None) if is_own else statement


def _is_own_relative(statement: MessageStatement, relation: Relation, own: Sequence[str]) -> bool:
    """Return whether the speaker would be their own partner, colleague or friend: the name was misread."""
    is_own = bool(own) and read_object(statement.object).words == own
    return is_own and relation.entity == "person" and statement.holder is None


def _is_misread(statement: MessageStatement, relation: Relation, others: Sequence[MessageStatement], text: str) -> bool:
    """Return whether the relation never has such an object, or the holder is a favorite thing, such as a dish.

    Nor is somebody called by the name of a person whom they meet: "made up with anna".
    """
    if not relation.admits(statement.object):
        return True
    if statement.relation == "name" and statement.holder is None and _is_of_another(statement.object, text):
        return True
    favorites = [read_object(each.object).words for each in others if each.relation == "favorite"]
    return bool(statement.holder) and read_object(statement.holder or "").words in favorites


def _is_of_another(name: str, text: str) -> bool:
    before = _before(name, text)
    return re.search(statement_words().people.others, before, re.IGNORECASE) is not None


def _about_somebody(
    statement: MessageStatement, named: Sequence[MessageStatement], known: Mapping[str, Relation]
) -> MessageStatement | None:
    """Return the statement with a pronoun resolved to the person named before it; None: nobody is named."""
    if known[statement.relation].entity is not None and is_pronoun(statement.object):
        return None
    if statement.holder is None:
        return statement
    first, _, whose = statement.holder.partition(" ")
    theirs = bool(whose) and first.lower() in statement_words().people.theirs
    if not theirs and not is_pronoun(statement.holder):
        return statement if holder_key(statement.holder) else None
    somebody = next((who for one in reversed(named) if (who := _somebody(one, known))), None)
    if somebody is None:
        return None
    return replace(statement, holder=f"{possessive(somebody)} {whose}" if theirs else somebody)


def _somebody(statement: MessageStatement, known: Mapping[str, Relation]) -> str | None:
    """Return the person that a statement names: its holder, or an object that is a person or animal."""
    if statement.holder:
        return statement.holder
    is_person = known[statement.relation].entity is not None and not is_pronoun(statement.object)
    return statement.object if is_person else None


def _end_of_replaced(statement: MessageStatement, relation: Relation) -> MessageStatement | None:
    """Return the end of the value that a statement replaces, unless the new value ends it anyway."""
    if statement.replaced is None or statement.phase != "begins":
        return None
    if relation.values == "one" and relation.topic not in ("thing", "role"):
        return None
    return replace(statement, object=statement.replaced, replaced=None, phase="ends", polarity=0, own_words=None)


def _candidate(
    statement: MessageStatement, relation: Relation, place: int, turn: ReadTurn, policy: Policy
) -> Candidate:
    kind, own = relation.kind, statement.own_words
    content = _capital(own) if own else worded_statement(statement, relation, turn.text)
    states = kind != "episode"
    importance = relation.importance
    if policy.importance.mode == "novelty_salience":
        importance = salience(unit_of(turn.text, statement.clause or turn.text), policy.salience)
    ends_at = _ends_at(statement, relation, turn, policy)
    return Candidate(
        id=candidate_id(turn.said_at, turn.tenant_id, turn.subject_id, kind, str(turn.id), READER, place),
        subject_id=turn.subject_id,
        kind=kind,
        content=(sentence if states and not own else owned)(content, turn.speaker, turn.subject_id),
        importance=getattr(policy.extract.importance, kind) if importance is None else importance,
        polarity=statement.polarity,
        happened_at=turn.said_at,
        mentions=tuple(_mentions(statement, relation, content)),
        turn_id=turn.id,
        session_id=turn.session_id,
        origin=OWN_WORDS if own else READER,
        statement=_proposition(statement) if states else None,
        confidence=statement.confidence,
        lasting=ends_at is None and states and _is_lasting(statement, relation),
        expires_at=ends_at,
    )


def _proposition(statement: MessageStatement) -> Proposition:
    topic = bare(statement.topic) if statement.topic else None
    return Proposition(
        relation=statement.relation,
        object=bare(statement.object),
        who=holder_key(statement.holder),
        topic=topic.lower() if topic else None,
        phase=model_phase(statement.phase),
    )


def _is_lasting(statement: MessageStatement, relation: Relation) -> bool:
    if statement.duration == "passing" or statement.fades:
        return False
    phase = model_phase(statement.phase)
    is_kept = statement.duration == "lasting" or (relation.lasts == "expiring" and _recurs(statement))
    return relation.is_lasting(phase) or (is_kept and phase in ("holds", "begins", "adds"))


def _ends_at(statement: MessageStatement, relation: Relation, turn: ReadTurn, policy: Policy) -> datetime | None:
    """Return when a statement expires: at the time that it names, or some days after it was said; None: never."""
    numbers, phase = policy.extract, model_phase(statement.phase)
    # a planned home, job or price holds from its day on, so it has no end of its own
    if phase in ("ends", "past") or (phase == "planned" and relation.lasts == "durable"):
        return None
    if statement.duration == "until" and (end := end_named(statement.until or "", turn.said_at)) is not None:
        return end
    if statement.duration is not None and statement.duration != "lasting":
        return turn.said_at + timedelta(days=numbers.passing_days) if numbers.passing_days else None
    if statement.duration == "lasting" or relation.lasts not in ("expiring", "dated") or _recurs(statement):
        return None
    named = (statement.topic, statement.object, statement.clause or turn.text)
    for words in named[1:2] if relation.lasts == "dated" else named:
        if words and (end := day_named(words, turn.said_at)) is not None:
            return end
    return (
        turn.said_at + timedelta(days=numbers.plan_days) if numbers.plan_days and relation.lasts == "expiring" else None
    )


def _recurs(statement: MessageStatement) -> bool:
    """Return whether a statement is about something that recurs: "by the 10th of each month"."""
    said = f"{statement.object} {statement.topic or ''}".lower().split()
    return not statement_words().words.recurring.isdisjoint(said)


def _mentions(statement: MessageStatement, relation: Relation, content: str) -> Iterator[str]:
    """Yield the typed ids of what it names: the person or animal that it is about, and the things of an event."""
    found = [entity.id for entity in entities_one(content)]
    if relation.entity is not None and (name := _name(statement)):
        found.insert(0, f"{relation.entity}:{name}")
    if relation.kind == "episode":
        found += [f"thing:{thing}" for thing in things(statement.object)]
    yield from dict.fromkeys(found)


def _name(statement: MessageStatement) -> str:
    """Return the name of a person or animal as a slug; empty if it is not a name: "two cats"."""
    said = bare(statement.object)
    if not (read_object(said).is_proper or statement.topic) or any(letter.isdigit() for letter in object_key(said)):
        return ""
    return name_slug(holder_key(said) or "")
