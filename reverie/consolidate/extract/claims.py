"""What a language model notes of one turn, and which of it is taken: pure (spec A3, B5; Chat flow 2).

A note is a claim about the turn, so it is held against it: it must quote the turn word for word, and each name and
number of its text must stand in what the model was shown. A bad note is left out by itself and counted; the others of
its turn stand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, get_args
from uuid import UUID

from pydantic import BeforeValidator, Field

from reverie.inference.replies import Reply
from reverie.language.contradiction import contrast, read
from reverie.language.cues.attribution import others_spans, veil
from reverie.language.cues.immediate import compiled
from reverie.language.cues.single import RuleMatch, extract_one
from reverie.language.cues.wording import slug
from reverie.language.grounding import flat, is_quoted, ungrounded
from reverie.language.text import strip_invisible
from reverie.policy import Policy
from reverie.policy.extract import FactCategory, RuleKind

#: Letters of a value, and of what follows the colon of a key.
_LONGEST_VALUE, _LONGEST_SLUG = 200, 80
_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}(?::[^\s:]+)?")
#: Verbs with which a note begins and which need not stand in the turn: "I have" gives "Has".
_VERBS = frozenset(
    re.findall(
        r"[a-z']+",
        """
        is isn't are was has hasn't had does doesn't did goes can can't cannot could may must should would will
        won't feels likes loves hates dislikes enjoys prefers avoids wants needs wishes hopes plans intends
        expects fears worries lives stays resides comes moves moved works worked runs owns keeps uses drives
        rides speaks studies studied learns teaches plays reads writes cooks eats drinks follows supports
        believes thinks knows says said asks suffers takes took gets got became turns turned celebrates attends
        attended belongs earns sells buys bought makes made manages leads name named names age aged allergic
        born call called calls address answer always never use speak reply write keep treat remind do don't
        avoid include mention put let give gives gave make send sends sent reports delivers offers hires hired
        teaches taught walks sees saw loses lost finds found starts started stops stopped changes changed decides
        decided hands copies visits visited brings brought serves
        """,
    )
)


_KINDS = get_args(RuleKind)
_CATEGORIES = get_args(FactCategory)


def _written(value: Any) -> Any:
    """A number where words were due ("value": 34); one space where there are several; nothing invisible."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return " ".join(strip_invisible(value).split()) if isinstance(value, str) else value


_Words = Annotated[str, BeforeValidator(_written)]


class Note(Reply):
    """One thing that a model found; what it may hold is checked by `judge`, so that one bad note spoils no other."""

    kind: Annotated[str, Field(json_schema_extra={"enum": list(_KINDS)})]
    #: In the third person, without the speaker's name.
    text: _Words
    #: Of the turn, word for word.
    quote: str
    confidence: float | None = None
    importance: float | None = None
    category: Annotated[str | None, Field(json_schema_extra={"enum": [*_CATEGORIES, None]})] = None
    key: str | None = None
    value: _Words | None = None


class TurnNotes(Reply):
    """What a model says of a turn."""

    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A turn as a model is shown it."""

    id: UUID
    subject_id: str
    session_id: str
    #: Its speaker's name or role.
    called: str
    speaker: str | None
    said_at: datetime
    text: str
    #: Turns before it, the nearest first: ids, names or roles, texts.
    before_ids: Sequence[UUID]
    before_called: Sequence[str]
    before_texts: Sequence[str]

    @property
    def date(self) -> str:
        """The day on which it was said."""
        return f"{self.said_at.day} {self.said_at:%B %Y}"

    @property
    def content(self) -> dict[str, Any]:
        """What the model is shown, as JSON."""
        before = zip(self.before_called, self.before_texts, strict=True)
        return {
            "speaker": self.called,
            "date": self.date,
            "text": self.text,
            "before": [{"speaker": called, "text": text} for called, text in before],
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Taken:
    """A note that stands on its turn."""

    #: In the reply.
    place: int
    kind: RuleKind
    text: str
    #: As the model says, 0 to 1; None: it does not.
    importance: float | None
    #: Category, key, value, confidence and importance of the structured fact that it also is.
    stated: dict[str, Any] | None
    #: Turns before it from which the text takes a name or a number.
    context: Sequence[UUID]


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """What is taken of the notes on a turn."""

    taken: Sequence[Taken]
    #: How many were not, by reason.
    discarded: Counter[str]
    #: Taken without the key that the model gave them.
    unkeyed: int


def judge(turn: Shown, reply: TurnNotes, policy: Policy) -> Judged:
    """Return what is taken of the notes on a turn, and how many were not.

    Reasons: `malformed`, `unquoted`, `ungrounded`; `anothers`: the quote stands within words that the turn itself
    quotes; `unsure` and `unimportant`, below the policy's least (Chat flow 2);
    `known`: a rule found it in the same turn, and no less; `repeated`; `excess`: more than the policy has a turn give.
    A key that is of no use, or was given twice, is left out, and the note stands without it.
    """
    hits = extract_one(turn.text, compiled(policy))
    taken: list[Taken] = []
    discarded: Counter[str] = Counter()
    for place, note in enumerate(reply.notes):
        context = _context(turn, note, policy)
        stated = _stated(turn, note, policy)
        reason = _objection(turn, note, policy)
        if reason is None and context is None:
            reason = "ungrounded"
        if reason is None:
            reason = _needless(turn, note, stated, hits, taken)
        if reason is None and len(taken) >= policy.extract.model.notes:
            reason = "excess"
        if reason is not None or context is None:
            discarded[str(reason)] += 1
            continue
        kind: RuleKind = next(kind for kind in _KINDS if kind == note.kind)
        taken.append(
            Taken(place=place, kind=kind, text=note.text, importance=note.importance, stated=stated, context=context)
        )
    kept = _one_value_a_key(taken)
    meant = sum(bool(reply.notes[one.place].key) for one in kept)
    return Judged(taken=kept, discarded=discarded, unkeyed=meant - sum(one.stated is not None for one in kept))


def _objection(turn: Shown, note: Note, policy: Policy) -> str | None:
    """Why the note is not believed, or not wanted, whatever its names and numbers."""
    numbers, least = policy.extract.model, policy.structured_facts
    sure = numbers.confidence if note.confidence is None else note.confidence
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
    """Whether a quote stands within words that the turn quotes from somebody else, and nowhere besides."""
    spans = others_spans(text)
    within = any(f" {flat(quote)} " in f" {flat(text[start:end])} " for start, end in spans)
    return within and not is_quoted(quote, [veil(text)])


def _context(turn: Shown, note: Note, policy: Policy) -> list[UUID] | None:
    """The turns before it that the text also stands on; None when it does not stand on all of them together."""
    own = [turn.text, turn.called, turn.date]
    text = _opened(note.text, own, policy)
    missing, needed = set(ungrounded(text, own)), []
    for id_, called, said in zip(turn.before_ids, turn.before_called, turn.before_texts, strict=True):
        if found := missing - set(ungrounded(text, [*own, called, said])):
            needed.append(id_)
            missing -= found
    return None if missing else needed


def _opened(text: str, sources: Sequence[str], policy: Policy) -> str:
    """The text with its first word small where that is its verb, and names nobody."""
    first = text.partition(" ")[0]
    said = {stem for source in sources for stem in read(source).content}
    if policy.language != "english" or first.casefold() in _VERBS or not said.isdisjoint(read(first).content):
        return first.casefold() + text[len(first) :]
    return text


def _needless(
    turn: Shown, note: Note, stated: dict[str, Any] | None, hits: Sequence[RuleMatch], taken: Sequence[Taken]
) -> str | None:
    """Why the note adds nothing. A rule's candidate is preferred: it is there with and without a model."""
    if any(one.kind == note.kind and one.text.casefold() == note.text.casefold() for one in taken):
        return "repeated"
    known = any(
        hit.kind == note.kind
        and (stated is None or hit.key is not None)
        and _says_no_more(note, hit, turn.text[hit.start : hit.end])
        for hit in hits
    )
    return "known" if known else None


def _says_no_more(note: Note, hit: RuleMatch, clause: str) -> bool:
    """Whether what a rule made of a clause holds what the note says, be it by another verb: "lives", "is based"."""
    mine, yours = read(note.text), read(hit.content)
    new = set(mine.content) - set(yours.content)
    if is_quoted(note.quote, [clause]):
        new -= _verb(note.text) - set(read(clause).content)  # a verb that was said says something
    return not new and mine.numbers <= yours.numbers and contrast(note.text, hit.content) is None


def _verb(text: str) -> set[str]:
    """The stem of the verb with which a note begins."""
    first, _, rest = text.partition(" ")
    word = rest.partition(" ")[0] if first.casefold() in ("is", "was", "are", "were") else first
    return set(read(word).content)


def _stated(turn: Shown, note: Note, policy: Policy) -> dict[str, Any] | None:
    """The structured fact that the note also is; None where it has no key of use."""
    head, _, tail = (note.key or "").partition(":")
    name = slug(tail)[:_LONGEST_SLUG].strip("-")
    key = slug(head).replace("-", "_") + (f":{name}" if name else "")
    value = note.value or ""
    if note.category not in _CATEGORIES or not _KEY.fullmatch(key) or not 0 < len(value) <= _LONGEST_VALUE:
        return None
    if ungrounded(value, [turn.text, turn.called, turn.date, *turn.before_called, *turn.before_texts]):
        return None
    return {
        "category": note.category,
        "key": key,
        "value": value,
        "confidence": policy.extract.model.confidence if note.confidence is None else note.confidence,
        "importance": _importance(note.kind, policy) if note.importance is None else note.importance,
    }


def _importance(kind: str, policy: Policy) -> float:
    return float(policy.extract.importance.model_dump().get(kind, 0.0))


def _one_value_a_key(taken: Sequence[Taken]) -> list[Taken]:
    """Of several values that one turn gives a key, the surest counts, of equal ones the first (Chat flow 2)."""
    surest: dict[tuple[str, str], tuple[float, int]] = {}
    for one in taken:
        if one.stated is not None:
            place = (one.stated["category"], one.stated["key"])
            surest[place] = min(surest.get(place, (2.0, 0)), (-one.stated["confidence"], one.place))
    keyed = {place for _, place in surest.values()}
    return [one if one.place in keyed else replace(one, stated=None) for one in taken]
