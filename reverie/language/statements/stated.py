"""Statements as a reader gives them, and their wording in the third person: "Workshop rate: 72 an hour". Pure.

The phrases are data: the column `says` of a relation, and the words of the language pack (`language/english/`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from reverie.language.cues import wording
from reverie.language.english import Form, statement_words
from reverie.language.objects import is_plural, read_object
from reverie.language.statements.holders import are_several, is_pronoun, is_thing
from reverie.language.statements.verbs import base_form, is_gerund, words
from reverie.language.subject import possessive
from reverie.language.text import sentences
from reverie.model import Phase
from reverie.policy.relations import Relation

#: As `Phase`, and `wished`: wanted, but not decided.
StatedPhase = Literal["holds", "begins", "adds", "ends", "past", "planned", "wished"]


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageStatement:
    """One statement of a message, as training/reader/GUIDE.md defines it; spans are copied from the message."""

    #: A name of the policy's table.
    relation: str
    object: str
    #: The person of whom it is true, if not the author: "my sister Ann".
    holder: str | None = None
    topic: str | None = None
    #: The value that ends: "from Wix to Shopify".
    replaced: str | None = None
    phase: StatedPhase = "holds"
    #: 1 liked or can, -1 disliked, denied, closed, cannot, 0 neither.
    polarity: int = 0
    #: How long it holds; None: as long as its relation says. `until`: as long as the words in `until` say.
    duration: Literal["lasting", "passing", "until"] | None = None
    until: str | None = None
    #: The clause that states it; None: the whole message.
    clause: str | None = None
    #: How sure the reader is, from 0 to 1.
    confidence: float = 1.0
    #: Words of the message to remember instead of a wording, if the reader is not sure of the whole statement.
    own_words: str | None = None
    #: Whether it fades though its relation lasts, since its author may not want to hear of it again.
    fades: bool = False


def model_phase(phase: StatedPhase) -> Phase:
    """Return the phase to remember: a wish is like a plan, since it changes nothing yet."""
    return "planned" if phase == "wished" else phase


def worded_statement(statement: MessageStatement, relation: Relation, text: str) -> str:
    """Return the memory of a statement: in the third person for its author, as a sentence about them for others.

    `text` is the message, for a statement without a clause of its own.
    """
    clause = statement.clause or text
    thing = _thing(statement, clause, relation)
    slots = _slots(statement, thing, clause)
    chosen = _phrase(statement, relation, slots, thing)
    said = wording.third_person(chosen, is_order=relation.kind == "instruction")
    is_deed = thing.is_deed and chosen == thing.words
    form: Form = "verb" if is_deed else _form(said)
    if is_deed and _form(f"{said[:1].upper()}{said[1:]}") != "verb":
        third = f"{said[:1].lower()}{said[1:]}"
        base = f"{thing.denying}{statement.object}"
    else:
        is_own = any(said.startswith(slot) for slot in slots.values())
        third, base = _conjugated(said, form, statement.holder, is_own=is_own)
    if statement.phase == "ends":
        third = _undenied(third, statement.holder)
    if _tells_phase(statement, relation):
        phrases, verb = statement_words().phases, third.split(" ", 1)[0]
        is_being = form == "verb" and verb in statement_words().words.being and statement.phase in phrases["being"]
        phrase = phrases["being" if is_being else form][statement.phase]
        said = phrase.format(text=third, third=third, base=base, verb=verb, rest=third.removeprefix(f"{verb} "))
        third = f"{said[:1].lower()}{said[1:]}"
    is_clause = form == "clause" or chosen == slots.get("clause")
    if statement.holder and not _names(statement.holder, chosen, chosen if is_clause else statement.topic or ""):
        said = _of_holder(said, third, form, statement.holder)
    return f"{said[:1].upper()}{said[1:]}"


def needs_own_words(statement: MessageStatement, relation: Relation) -> bool:
    """Return whether no wording would be true, or tell who is meant.

    It would call its author "they" or "them": "They make them the left eye". It would give what is the author's to
    somebody else: "Mum minds their kids". It would affirm a denial, or end more than was said. It would let a shop live
    somewhere. An order keeps the author's words, so it needs others only if they leave out its denial: "clip art" for
    "No clip art please".
    """
    if relation.kind == "instruction":
        return _is_denial(statement) and _denial(relation) is None and not _denies(statement.object)
    if statement.relation in statement_words().people.alone and is_thing(statement.holder):
        return True
    if _ends_too_much(statement, relation) or is_pronoun(statement.object):
        return True
    said = (_headed(statement.object) if relation.deeds else None) or statement.object
    if wording.names_author(f"{statement.holder or ''} {said}"):
        return True
    if statement.holder and wording.names_own(said.replace(statement.holder, "")):
        return True
    is_worded = not _is_denial(statement) or _denial(relation) is not None
    return not is_worded and not _thing(statement, statement.clause or statement.object, relation).is_deed


def _ends_too_much(statement: MessageStatement, relation: Relation) -> bool:
    """Return whether the wording of an end or a denial would say more: "drinks no alcohol" for "no more wine"."""
    if statement.phase == "ends" and relation.polar and statement.polarity < 0:
        return True  # the end of a dislike is no end of a liking
    kinds = statement_words().words.kinds.get(statement.relation)
    is_over = statement.phase == "ends" or statement.polarity < 0
    return kinds is not None and is_over and re.search(kinds, statement.object, re.IGNORECASE) is not None


# ------------------------------------------------------------------------------------------------- words of the message
@dataclass(frozen=True, slots=True)
class _Thing:
    """The wording of an object."""

    words: str
    #: Whether it is a predicate, something that somebody does: "draws in the evenings".
    is_deed: bool
    #: The adverb that denies it, with a space: "never ".
    denying: str = ""


def _thing(statement: MessageStatement, clause: str, relation: Relation) -> _Thing:
    """Return the object as a thing, or as a deed in the third person if it follows its subject in the clause."""
    common, said = statement_words().words, statement.object
    if relation.deeds and (deed := _headed(said)) is not None:
        return _Thing(deed, True)
    before = re.findall(r"[\w'’]+", clause[: max(clause.find(said), 0)].lower().replace("’", "'"))
    denying = ""
    while before and before[-1] in common.adverbs:
        denying = f"{before[-1]} " if before[-1] in common.denials else denying
        before.pop()
    last = before[-1] if before else ""
    if relation.deeds and (deed := _done(said, before, statement.holder)) is not None:
        return _Thing(f"{denying}{deed}", True, denying)
    if relation.infinitive and last == common.to:
        return _Thing(f"{common.to} {said}", False)
    return _Thing(_lowered(bare(said)), False)


def _lowered(said: str) -> str:
    """Return an order or a clause with a small letter, if its first word is a common one: "Don't use emojis"."""
    common, known = statement_words(), words()
    first = said.split(" ", 1)[0]
    plain = first.lower().replace("’", "'")
    is_common = (
        plain
        in common.words.denied.keys()
        | common.words.adverbs
        | common.words.articles
        | common.words.own
        | common.things.stops
        | known.verbs.keys()
        | known.regular
    )
    return f"{said[:1].lower()}{said[1:]}" if is_common and len(first) > 1 else said


def _done(said: str, before: Sequence[str], holder: str | None) -> str | None:
    """Return what somebody does or can, if its subject or a verb of ability precedes it; None if it is a thing."""
    pack = statement_words()
    last, pair = before[-1] if before else "", " ".join(before[-2:])
    if said[:1].isupper():  # a name
        return None
    if last in pack.words.subjects:
        return _deed(said) if _opens_with_verb(said) else None
    if pair in pack.words.able or last in pack.words.able:
        return f"{pack.words.able.get(pair) or pack.words.able[last]} {said}" if _opens_with_verb(said) else None
    if last in pack.people.subjects or (holder and last == holder.lower().rpartition(" ")[2]):
        return (said if holder and are_several(holder) else _deed(said)) if _is_known_verb(said) else None
    return None


def _is_known_verb(said: str) -> bool:
    """Return whether it begins with a verb of the table, since anything may follow a name."""
    word = said.split(" ", 1)[0].lower()
    base, tense = base_form(word)
    known = words()
    return tense == "present" and not is_gerund(word) and (base in known.verbs or base in known.regular)


def _headed(said: str) -> str | None:
    """Return a clause about the author without its subject: "is writing from eight" for "I'm writing from eight"."""
    lowered = said.lower().replace("’", "'")
    for first, third in statement_words().words.firsts:
        if lowered.startswith(first) and len(said) > len(first):
            rest = said[len(first) :]
            return f"{third}{rest}" if third else _deed(rest)
    return None


def _deed(said: str) -> str:
    """Return a deed in the third person: "draws in the evenings" for "draw in the evenings"."""
    common = statement_words().words
    tokens = said.split(" ")
    place = next((place for place, word in enumerate(tokens) if word.lower() not in common.adverbs), 0)
    rest = " ".join(tokens[place:])
    for first, third in common.denied.items():
        if f"{rest} ".lower().replace("’", "'").startswith(f"{first} "):
            return " ".join([*tokens[:place], f"{third}{rest[len(first) :]}"])
    if _opens_with_verb(rest):
        tokens[place] = wording.third_person(f"{tokens[place]}(s)")
    return " ".join(tokens)


def _opens_with_verb(said: str) -> bool:
    """Return whether it begins with a verb in its base form, or with one that is denied."""
    common = statement_words().words
    word = said.split(" ", 1)[0].lower().replace("’", "'")
    if word in common.denied or word in common.adverbs:
        return True
    if word in common.modals or word in common.articles or not word.isalpha():
        return False
    return base_form(word) == (word, "present")


def bare(said: str) -> str:
    """Return the words without a "my" or "our" before them."""
    first, space, rest = said.partition(" ")
    return rest if space and first.lower() in statement_words().words.own else said


def _bare_topic(said: str) -> str:
    """Return the words of a topic without article or possessive: "lorry" for "his lorry"."""
    pack = statement_words()
    first, space, rest = said.partition(" ")
    return rest if space and first.lower() in pack.words.own | pack.words.articles | pack.people.theirs else said


def _slots(statement: MessageStatement, thing: _Thing, clause: str) -> dict[str, str]:
    topic = _bare_topic(statement.topic or "")
    has_article = thing.words.split(" ", 1)[0].lower() in statement_words().words.articles
    clause = next((one for one in sentences(clause) if statement.object in one), "").strip().rstrip(".!")
    found = {
        "object": thing.words,
        "an_object": _with_article(thing.words),
        "a_thing": thing.words if has_article else "",
        "topic": topic,
        "a_topic": _with_article(topic, is_sort=True),
        "replaced": bare(statement.replaced or ""),
        "clause": _headed(clause) or clause,
    }
    return {name: value for name, value in found.items() if value}


def _with_article(noun: str, *, is_sort: bool = False) -> str:
    """Return a noun with an article, unless it has one or is a name (no sort: "a Labrador"), a number or a plural."""
    common = statement_words().words
    first = noun.split(" ", 1)[0]
    is_name = not first.islower() and not is_sort
    if not first.isalpha() or is_name or first in common.articles | common.own or is_plural(noun) or _counts(first):
        return noun
    return f"{'an' if first[0].lower() in common.an else 'a'} {noun}"


def _counts(word: str) -> bool:
    return any(each.isdigit() for each in read_object(word).words)


# -------------------------------------------------------------------------------------------------------------- phrases
_SLOT = re.compile(r"\{(\w+)\}")


def _phrase(statement: MessageStatement, relation: Relation, slots: Mapping[str, str], thing: _Thing) -> str:
    """Return the words of a statement, as one that holds unless the relation has its own phrase for its phase."""
    says, phase = relation.says, statement.phase
    denial = _denial(relation) if _is_denial(statement) else None
    if phase in says and phase != "holds" and denial is None:
        said = _lowered(bare(statement.object)) if thing.is_deed else slots["object"]
        return _filled(says[phase], {**slots, "object": said})  # type: ignore[index]
    if thing.is_deed:
        # who says that she is bad at something may say so without a denial: "I draw like a toddler"
        return _denied_deed(thing.words, denial) if _is_denial(statement) and not relation.polar else thing.words
    if denial is not None:
        return _filled(denial, slots)
    if statement.polarity > 0 and "affirmed" in says:
        return _filled(says["affirmed"], slots)
    if "named" in says and _is_name(thing.words):
        return _filled(says["named"], slots)
    return _filled(says.get("holds", relation.wording), slots)


def _is_denial(statement: MessageStatement) -> bool:
    """Return whether it denies its object; of an end, the polarity says nothing: "I don't drive any more"."""
    return statement.polarity < 0 and statement.phase != "ends"


def _denial(relation: Relation) -> str | None:
    return relation.says.get("denied") or relation.opposite


def _denies(said: str) -> bool:
    return not statement_words().words.denials.isdisjoint(said.lower().replace("’", "'").split(" "))


def _denied_deed(deed: str, denial: str | None) -> str:
    """Return a deed as one that somebody does not do: "Doesn't take pets", or the denial if it names no object."""
    common = statement_words().words
    if _denies(deed):
        return deed
    if denial is not None and not _SLOT.search(denial):
        return denial
    verb, _, rest = deed.partition(" ")
    template = common.denying["modal" if verb.lower() in common.modals else "verb"]
    return template.format(verb=verb, base=base_form(verb)[0], rest=rest).strip()


def _undenied(third: str, holder: str | None) -> str:
    """Return a deed that is over without its denial: "drives" for "doesn't drive"."""
    for denied, plain in statement_words().words.ended.items():
        if third.startswith(f"{denied} "):
            deed = third.removeprefix(f"{denied} ")
            is_base = plain or (holder and are_several(holder))
            return f"{plain} {deed}".strip() if is_base else _deed(deed)
    return third


def _filled(alternatives: str, slots: Mapping[str, str]) -> str:
    """Return the first of the alternatives that has all its slots, filled; else the object alone."""
    for template in alternatives.split("|"):
        if all(name in slots for name in _SLOT.findall(template)):
            return template.format_map(slots)
    return slots["object"]


def _is_name(thing: str) -> bool:
    """Return whether an object is a name, and not "two girls" or "the eldest"."""
    first = thing.split(" ", 1)[0]
    pack = statement_words()
    is_common = {first.lower()} & (pack.words.own | pack.words.articles | pack.people.roles)
    return first[:1].isupper() and not is_common and not _counts(first)


# --------------------------------------------------------------------------------------------------- phases and holders
def _form(said: str) -> Form:
    """Return how a wording begins."""
    first = said.split(" ", 1)[0]
    if f"{first[:1].upper()}{first[1:]}" in statement_words().verbs:
        return "verb"
    return "noun" if re.match(statement_words().words.noun_form, said) else "clause"


#: Phases that a wording expresses; a statement that begins or adds is worded like one that holds.
_TOLD: frozenset[str] = frozenset(("ends", "past", "planned", "wished"))


def _tells_phase(statement: MessageStatement, relation: Relation) -> bool:
    """Return whether words for the phase are added, since the relation's own phrase does not express it."""
    if statement.phase not in _TOLD:
        return False
    own = next((words for case, words in relation.says.items() if case == statement.phase), None)
    is_denied = _is_denial(statement) and _denial(relation) is not None
    return own is None or (is_denied and own != relation.says.get("holds"))


def _conjugated(said: str, form: Form, holder: str | None, *, is_own: bool) -> tuple[str, str]:
    """Return a wording as it follows a holder or words of its phase, and with its verb in the base form.

    `is_own`: it begins with words of the message, which keep their capital.
    """
    first, _, rest = said.partition(" ")
    if form == "verb":
        several, base = statement_words().verbs[f"{first[:1].upper()}{first[1:]}"]
        verb = several if holder and are_several(holder) else f"{first[:1].lower()}{first[1:]}"
        return f"{verb} {rest}".strip(), f"{base} {rest}".strip()
    lowered = said if is_own else f"{said[:1].lower()}{said[1:]}"
    return lowered, lowered


def _names(holder: str, chosen: str, subject: str) -> bool:
    """Return whether a wording begins with the holder, or names them in `subject`, the part that is no value.

    A name in a value does not tell whose it is: "Email is hanna@roe.example".
    """
    who = re.compile(rf"(?<!\w){re.escape(bare(holder.strip()))}(?!\w)", re.IGNORECASE)
    return bool(who.match(chosen) or who.search(subject))


def _of_holder(said: str, third: str, form: Form, holder: str) -> str:
    """Return a sentence about somebody else: "Sister Ann lives in Leeds", "Daughter's name is Ines"."""
    who = bare(holder.strip())
    if form == "verb":
        return f"{who} {third}"
    return f"{possessive(who)} {third}" if form == "noun" else f"{who}: {third}"
