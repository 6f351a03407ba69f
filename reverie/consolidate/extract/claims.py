"""Claims of a language model about one turn, and which of them are accepted; pure.

A claim is checked against the turn: it must quote the turn word for word, and each name and number of its text must
occur in the input of the model. A bad claim is left out and counted; the other claims about its turn are accepted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import isfinite
from typing import Annotated, Any, get_args
from uuid import UUID

from pydantic import BeforeValidator, Field

from reverie.inference.replies import Reply
from reverie.language.contradiction import contradiction, read
from reverie.language.cues.attribution import others_spans, veil
from reverie.language.cues.immediate import compiled
from reverie.language.cues.single import extract_one
from reverie.language.cues.wording import slug
from reverie.language.fact_keys import relation_of
from reverie.language.grounding import folded_words, is_quoted, ungrounded
from reverie.language.pack import language_table
from reverie.language.statements.holders import holder_key
from reverie.language.statements.reading import RuleMatch
from reverie.language.statements.stated import bare
from reverie.language.text import strip_invisible
from reverie.model import PHASES, Candidate, Proposition
from reverie.policy import Policy
from reverie.policy.relations import FactCategory, RuleKind

_PACK = language_table("claims")

#: Characters that a value may have, and the part of a key after the colon.
_LONGEST_VALUE, _LONGEST_SLUG = 200, 80
_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}(?::[^\s:]+)?")
#: The relation of a statement that no other relation fits.
_OTHER = "other"
#: Verbs that may begin a claim without occurring in the turn: "I have" gives "Has".
_VERBS = _PACK.word_set("verbs")
#: Polarities as a model may write them; anything else is none.
_SIGNS = {"-1": -1, "0": 0, "1": 1}
_KINDS = get_args(RuleKind)
_CATEGORIES = get_args(FactCategory)


def _written(value: Any) -> Any:
    """Return a number ("value": 34) as a string, and a string with single spaces and without invisible characters."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return " ".join(strip_invisible(value).split()) if isinstance(value, str) else value


def _number(value: Any) -> Any:
    """Return a number or None as it is, and -1 for anything else, which makes only its claim malformed."""
    try:
        return value if value is None or isfinite(float(value)) else -1.0
    except (TypeError, ValueError, OverflowError):
        return -1.0


_Words = Annotated[str, BeforeValidator(_written)]
_Share = Annotated[float | None, BeforeValidator(_number)]
_Sign = Annotated[int | None, BeforeValidator(lambda said: _SIGNS.get(str(said).removesuffix(".0")))]


# The names, fields and docstrings of the two replies are part of the prompt, whose hash is part of memory ids.
class Note(Reply):
    """One thing that a model found; what it may hold is checked by `judge`, so that one bad note spoils no other."""

    kind: Annotated[str, Field(json_schema_extra={"enum": list(_KINDS)})]
    #: In the third person, without the speaker's name.
    text: _Words
    #: Words of the turn, verbatim.
    quote: str
    confidence: _Share = None
    importance: _Share = None
    category: Annotated[str | None, Field(json_schema_extra={"enum": [*_CATEGORIES, None]})] = None
    key: str | None = None
    value: _Words | None = None
    relation: str | None = None
    object: _Words | None = None
    holder: _Words | None = None
    topic: _Words | None = None
    phase: Annotated[str | None, Field(json_schema_extra={"enum": [*PHASES, None]})] = None
    polarity: Annotated[_Sign, Field(json_schema_extra={"enum": [-1, 0, 1, None]})] = None


class TurnNotes(Reply):
    """What a model says of a turn."""

    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn as it is shown to a model."""

    id: UUID
    subject_id: str
    session_id: str
    #: The speaker's name or role.
    author: str
    speaker: str | None
    said_at: datetime
    text: str
    #: The turns before it, the nearest first: ids, names or roles, texts.
    before_ids: Sequence[UUID]
    before_authors: Sequence[str]
    before_texts: Sequence[str]

    @property
    def date(self) -> str:
        """The day of the turn, such as 5 March 2026."""
        return f"{self.said_at.day} {self.said_at:%B %Y}"

    @property
    def content(self) -> dict[str, Any]:
        """The JSON input of the model."""
        before = zip(self.before_authors, self.before_texts, strict=True)
        return {
            "speaker": self.author,
            "date": self.date,
            "text": self.text,
            "before": [{"speaker": author, "text": text} for author, text in before],
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class AcceptedClaim:
    """A claim that its turn supports."""

    #: Its index in the reply.
    place: int
    kind: RuleKind
    text: str
    #: Importance by the model, 0 to 1; None: it gives none.
    importance: float | None
    #: Category, key, value, confidence and importance of the structured fact that it also is.
    stated: dict[str, Any] | None
    #: Confidence of the model, 0 to 1.
    confidence: float
    #: Its statement by the model, and its polarity; None: the model names no relation of the policy.
    statement: Proposition | None
    polarity: int
    #: The match of a rule in the same words, if the claim says all of it; None: there is none.
    hit: RuleMatch | None
    #: Earlier turns from which the text takes a name or a number.
    context: Sequence[UUID]


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedClaims:
    """The accepted claims about a turn, and the number of discarded ones."""

    accepted: Sequence[AcceptedClaim]
    #: Discarded claims, by reason.
    discarded: Counter[str]
    #: Claims accepted without the key that the model gave them.
    unkeyed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnReading:
    """A turn that a language model was asked about, and the result."""

    turn: ShownTurn
    #: None: there is no usable reply.
    judged: JudgedClaims | None
    #: The candidate of each accepted claim, in their order.
    candidates: Sequence[Candidate]
    #: The new confidence of each of the reader's memories with which a claim agrees, by id.
    agreed: Mapping[UUID, float]
    #: The reason why there is no reply; None: there is one.
    reason: str | None
    #: Whether the turn waits for the next run.
    waits: bool

    @property
    def accepted(self) -> Sequence[AcceptedClaim]:
        """The accepted claims about the turn."""
        return self.judged.accepted if self.judged else ()


def judge_claims(turn: ShownTurn, reply: TurnNotes, policy: Policy) -> JudgedClaims:
    """Return the accepted claims about a turn, and the number of discarded ones.

    Reasons: `malformed`, `unquoted`, `ungrounded`; `anothers`: the quote is within words that the turn itself quotes;
    `unsure` and `unimportant`: below the policy's minimum; `known`: a rule found at least as much in the same turn;
    `repeated`; `excess`: beyond the policy's number for one turn. A key that is invalid, or was given twice, is
    dropped, and the claim is accepted without it. Source: docs/design-sources.md, Chat flow 2.
    """
    hits = extract_one(turn.text, compiled(policy))
    accepted: list[AcceptedClaim] = []
    discarded: Counter[str] = Counter()
    for place, note in enumerate(reply.notes):
        context = _context(turn, note, policy)
        stated = _stated(turn, note, policy)
        reason = _objection(turn, note, policy)
        if reason is None and context is None:
            reason = "ungrounded"
        if reason is None:
            reason = _needless(turn, note, stated, hits, accepted, policy)
        if reason is None and len(accepted) >= policy.extract.model.notes:
            reason = "excess"
        if reason is not None or context is None:
            discarded[str(reason)] += 1
            continue
        kind: RuleKind = next(kind for kind in _KINDS if kind == note.kind)
        accepted.append(
            AcceptedClaim(
                place=place,
                kind=kind,
                text=note.text,
                importance=note.importance,
                stated=stated,
                confidence=_confidence(note, policy),
                statement=_statement(turn, note, policy),
                polarity=note.polarity if note.polarity in (-1, 1) else 0,
                hit=_hit_within(turn, note, hits),
                context=context,
            )
        )
    accepted = _one_value_a_key(accepted)
    with_key = sum(bool(reply.notes[claim.place].key) for claim in accepted)
    unkeyed = with_key - sum(claim.stated is not None for claim in accepted)
    return JudgedClaims(accepted=accepted, discarded=discarded, unkeyed=unkeyed)


def _objection(turn: ShownTurn, note: Note, policy: Policy) -> str | None:
    """Return why the claim is not accepted, apart from its names and numbers; None: there is no objection."""
    numbers, least = policy.extract.model, policy.structured_facts
    sure = _confidence(note, policy)
    weight = 1.0 if note.importance is None else note.importance
    if note.kind not in _KINDS or not 0 < len(note.text) <= numbers.note_characters:
        return "malformed"
    if not (0 <= sure <= 1 and 0 <= weight <= 1):
        return "malformed"
    if not is_quoted(note.quote, [turn.text]):
        return "unquoted"
    if _is_anothers(note.quote, turn.text):
        return "anothers"
    if sure < least.min_confidence:
        return "unsure"
    return "unimportant" if weight < least.min_importance else None


def _is_anothers(quote: str, text: str) -> bool:
    """Return whether a quote occurs only within words that the turn quotes from somebody else."""
    spans = others_spans(text)
    within = any(f" {folded_words(quote)} " in f" {folded_words(text[start:end])} " for start, end in spans)
    return within and not is_quoted(quote, [veil(text)])


def _context(turn: ShownTurn, note: Note, policy: Policy) -> list[UUID] | None:
    """Return the earlier turns that the text also rests on; None: even with all of them it is not grounded."""
    own = [turn.text, turn.author, turn.date]
    text = _opened(note.text, own, policy)
    missing, needed = set(ungrounded(text, own)), []
    for id_, author, said in zip(turn.before_ids, turn.before_authors, turn.before_texts, strict=True):
        if supplied := missing - set(ungrounded(text, [*own, author, said])):
            needed.append(id_)
            missing -= supplied
    return None if missing else needed


def _opened(text: str, sources: Sequence[str], policy: Policy) -> str:
    """Return the text with its first word in lower case, if that is its verb and not a name."""
    first = text.partition(" ")[0]
    said = {stem for source in sources for stem in read(source).content}
    if policy.language != "english" or first.casefold() in _VERBS or not said.isdisjoint(read(first).content):
        return first.casefold() + text[len(first) :]
    return text


def _needless(
    turn: ShownTurn,
    note: Note,
    stated: dict[str, Any] | None,
    hits: Sequence[RuleMatch],
    accepted: Sequence[AcceptedClaim],
    policy: Policy,
) -> str | None:
    """Return why the claim adds nothing. A rule's candidate is preferred, since it exists with and without a model."""
    if any(claim.kind == note.kind and claim.text.casefold() == note.text.casefold() for claim in accepted):
        return "repeated"
    known = any(
        hit.kind == note.kind
        and (stated is None or _has_key(hit, stated, policy))
        and says_no_more(note.text, hit.content, clause if is_quoted(note.quote, [clause]) else None)
        for hit, clause in ((hit, turn.text[hit.start : hit.end]) for hit in hits)
    )
    return "known" if known else None


def _hit_within(turn: ShownTurn, note: Note, hits: Sequence[RuleMatch]) -> RuleMatch | None:
    """Return the match of a rule in the words that the claim quotes, if the claim says all of it."""
    claimed = read(note.text)
    for hit in hits:
        clause = turn.text[hit.start : hit.end]
        if (
            hit.kind == note.kind
            and (is_quoted(note.quote, [clause]) or is_quoted(clause, [note.quote]))
            and set(read(hit.content).content) <= set(claimed.content)
            and contradiction(note.text, hit.content) is None
        ):
            return hit
    return None


def _has_key(hit: RuleMatch, stated: dict[str, Any], policy: Policy) -> bool:
    """Return whether a rule's match is already a structured fact: by its own key, or by the key's relation."""
    found = relation_of(policy, stated["category"], stated["key"])
    return hit.key is not None or bool(found and hit.statement and found[0] == hit.statement.relation)


def says_no_more(text: str, content: str, clause: str | None) -> bool:
    """Return whether a memory's content covers a claim's text, even with another verb: "lives", "is based".

    `clause`: the words from which both come, if these are the same.
    """
    claimed, known = read(text), read(content)
    new = set(claimed.content) - set(known.content)
    if clause is not None:
        new -= _verb(text) - set(read(clause).content)  # a verb of the clause itself counts
    return not new and claimed.numbers <= known.numbers and contradiction(text, content) is None


def _verb(text: str) -> set[str]:
    """Return the stem of the verb with which a claim begins."""
    first, _, rest = text.partition(" ")
    word = rest.partition(" ")[0] if first.casefold() in _PACK.word_set("being") else first
    return set(read(word).content)


def _stated(turn: ShownTurn, note: Note, policy: Policy) -> dict[str, Any] | None:
    """Return the structured fact that the claim also is; None: it has no valid key and value."""
    head, _, tail = (note.key or "").partition(":")
    name = slug(tail)[:_LONGEST_SLUG].strip("-")
    key = slug(head).replace("-", "_") + (f":{name}" if name else "")
    value = note.value or ""
    if note.category not in _CATEGORIES or not _KEY.fullmatch(key) or not 0 < len(value) <= _LONGEST_VALUE:
        return None
    if ungrounded(value, [turn.text, turn.author, turn.date, *turn.before_authors, *turn.before_texts]):
        return None
    return {
        "category": note.category,
        "key": key,
        "value": value,
        "confidence": _confidence(note, policy),
        "importance": importance_of(note.kind, policy) if note.importance is None else note.importance,
    }


def _confidence(note: Note, policy: Policy) -> float:
    return policy.extract.model.confidence if note.confidence is None else note.confidence


def _statement(turn: ShownTurn, note: Note, policy: Policy) -> Proposition | None:
    """Return the claim's statement in the reader's terms; None: the model gives no valid relation and object."""
    said = " ".join(part for part in (note.object, note.holder, note.topic) if part)
    sources = [turn.text, turn.author, turn.date, *turn.before_authors, *turn.before_texts]
    is_named = note.relation in stated_relations(policy) and note.object and len(note.object) <= _LONGEST_VALUE
    if not is_named or ungrounded(_opened(said, sources, policy), sources):
        return None
    return Proposition(
        relation=note.relation,
        object=bare(note.object or ""),
        who=holder_key(note.holder),
        topic=bare(note.topic).lower() if note.topic else None,
        phase=next((phase for phase in PHASES if phase == note.phase), "holds"),
    )


def stated_relations(policy: Policy) -> list[str]:
    """Return the relations that a claim may name: neither `other` nor those of episodes, which state nothing."""
    known = policy.extract.relations.items()
    return [name for name, relation in known if relation.kind != "episode" and name != _OTHER]


def importance_of(kind: str, policy: Policy) -> float:
    """Return the policy's importance of a kind."""
    return float(policy.extract.importance.model_dump().get(kind, 0.0))


def _one_value_a_key(claims: Sequence[AcceptedClaim]) -> list[AcceptedClaim]:
    """Keep one value for each key: the most certain, and the first of equally certain ones."""
    surest: dict[tuple[str, str], tuple[float, int]] = {}
    for claim in claims:
        if claim.stated is not None:
            key = (claim.stated["category"], claim.stated["key"])
            surest[key] = min(surest.get(key, (2.0, 0)), (-claim.stated["confidence"], claim.place))
    places = {place for _, place in surest.values()}
    return [claim if claim.place in places else replace(claim, stated=None) for claim in claims]
