"""Reads a clause as a predicate: of whom it is said, in which phase, and the verb in its base form with what follows.

"So we finally moved to Halifax" is `move to Halifax`, done; "my sister no longer works at Ikea" is `work at Ikea`,
ended, of the sister. A rule on predicates then needs one pattern for all of these. The forms are those of the first
person and of the people whom an author calls his; a clause without such a subject has no predicate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import islice

from reverie.language.cues.wording import trie
from reverie.language.statements.headless import AHEAD, COMMA, GERUND, GOING_ON, HEADLESS, MOST_PARTS, STATE
from reverie.language.statements.verbs import Tense, base_form, words

_SELF = (
    r"i'm|i am|im|i m|i've|ive|i'll|i'd|id(?= (?:love|like|rather|prefer|never|be|go)\b)|i|we're|we are|we've|we'll"
    r"|we'd|we|me and my [a-z]+|my [a-z]+ (?:[a-z]+ )?and i(?:'ve|'m)?"
)
#: Words between subject and verb that change nothing, and those that say that something is new or stands beside.
_PLAIN_ADVERBS = (
    "actually|really|already|always|only|even|both|all|kinda|kind of|sort of|honestly|basically|literally|absolutely"
    "|totally|definitely|usually|mostly|mainly|originally|myself|ourselves|currently|still|generally|truly|very much"
    "|happily|sadly|unfortunately|luckily|thankfully|eventually|ever|normally|typically|often|sometimes|primarily"
    "|simply|personally|professionally|proudly|legally|technically|so|uh|um|quite|pretty much|forever|too|all"
    "|ever so|truly|myself"
)
_NEW_ADVERBS = "now|just|finally|officially|recently|newly|nowadays|lately|these days|suddenly|as of [a-z]+"
_MORE_ADVERBS = "also|additionally|as well"
_ADVERB = re.compile(
    rf"(?:(?P<new>{_NEW_ADVERBS})|(?P<more>{_MORE_ADVERBS})|(?P<plain>{_PLAIN_ADVERBS}|[a-z]{{3,}}ly)),? ",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"(?:don't|dont|do not|doesn't|doesnt|does not|didn't|didnt|did not|never|not|haven't|havent|hasn't|isn't|isnt"
    r"|ain't|aren't|arent|wasn't|wasnt|weren't|hadn't|can't|cant|cannot|can not|won't|wont|will not|couldn't) ",
    re.IGNORECASE,
)
_PLANNED = re.compile(
    r"(?:(?:am |are |is |'m |'re )?(?:going to(?! (?-i:[A-ZÀ-Þ]))|gonna|planning (?:to|on)|hoping to|about to"
    r"|thinking (?:of|about)|looking to|aiming to|set to|due to|scheduled to|dreaming of|considering|want to|wanna"
    r"|hope to|plan to|plan on|intend to|aim to|wants to|hopes to|plans to|would (?:really )?(?:like|love) to|like to"
    r"|love to)|will|'ll|shall|want|wants) ",
    re.IGNORECASE,
)
_WISH = re.compile(r"want|wanna|hop|like|love|dream", re.IGNORECASE)
_SUPPOSED = re.compile(
    r"(?:might|may|could|would|'d|should|must|need to|needs to|have to|has to|had to|got to|gotta|ought to) ",
    re.IGNORECASE,
)
_NEARLY = re.compile(r"nearly (?!always|every|all |never|[0-9])", re.IGNORECASE)
_USED_TO = re.compile(r"used to |would always ", re.IGNORECASE)
_NO_LONGER = re.compile(r"no longer |not any ?more ", re.IGNORECASE)
_ANY_MORE = re.compile(r"\b(?:any ?more|any longer|no more)\b", re.IGNORECASE)
_AFTER_ALL = re.compile(r"\bafter all\b", re.IGNORECASE)
_AGAIN = re.compile(
    r"(?<!years )(?<!months )(?<!weeks )(?<!while )\b(?:now|again|from now on|these days|nowadays)\b", re.I
)
_SINCE = re.compile(r"\b(?:as of|nowadays|these days|from now on|since (?:last|yesterday)|guess what)\b", re.IGNORECASE)
_BESIDES = re.compile(
    r"\b(?:as well|on the side|on (?:the )?weekends|at weekends|part[- ]time|second job|side "
    r"(?:job|gig|hustle)|in addition)\b",
    re.IGNORECASE,
)
#: "I work at Ikea too", and not "in Rotterdam now, cheaper too".
_TOO = re.compile(r"^[^,]*\btoo\b", re.IGNORECASE)
_STOPPED = re.compile(
    r"(?:stopped|stop|quit|gave up|given up|give up|giving up|stopping|quitting|dropped|done|finished) (?=[a-z]+ing\b)",
    re.IGNORECASE,
)
_STARTED = re.compile(r"(?:started|start|starting|began|begun|got back into) (?:to )?(?=[a-z]+)", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-zÀ-ÿ0-9'’-]+")


@dataclass(frozen=True, slots=True)
class Predicate:
    """What a clause says of its author, or of one of his people."""

    #: Whom, if not the author: `sister`, `friend Anna`.
    who: str | None
    #: The verb in its base form, and what follows, as it was said: `live in Bergen`.
    text: str
    tense: Tense
    negated: bool
    #: "no longer", "not … anymore", "stopped", "not … after all".
    ended: bool
    #: "now", "just", "finally", "started", "again".
    new: bool
    #: "also", "on the side".
    besides: bool
    #: "used to".
    once: bool
    #: A wish rather than a plan: "want to", "would love to".
    wished: bool
    #: It is going on: "I'm moving".
    doing: bool
    #: Where what follows the verb begins in the clause.
    start: int


#: "is", and no genitive: "my wife's new manager is".
_IS = (
    r"'s(?! (?!(?:an?|the|in|on|at|from|now|not|so|very|been|going) )(?:[a-z]+ ){1,3}"
    r"(?:is|was|has|are|works|lives|died|got|moved|loves)\b)"
)


@cache
def _subject() -> re.Pattern[str]:
    known = words()
    which, one, many = (trie(each) for each in (known.which, known.holder, known.holders))
    return re.compile(
        rf"(?a:\b)(?=[imowIMOW])(?:(?P<self>{_SELF})|(?:my|our|me(?= m[auo]m\b| dad\b| nan\b| mate\b"
        rf"| missus\b)) (?:{which} )*(?P<holder>(?:{which} )??(?:{one}|{many}))"
        rf"(?P<name>,? (?-i:[A-ZÀ-Þ][A-Za-zÀ-ÿ'-]*[A-Za-zÀ-ÿ]),?)?(?P<is>{_IS}|'re)?,?)(?= )",
        re.IGNORECASE,
    )


def several() -> tuple[str, ...]:
    """Return the words for more than one of an author's people."""
    return words().holders


#: Subjects of a clause that are read: one without end has thousands.
_MOST_SUBJECTS = 12


@lru_cache(maxsize=64)  # the rules of a clause ask one after the other
def predicates(clause: str) -> tuple[Predicate, ...]:
    """Return the predicates of a clause, one for each subject in it, in order."""
    read = (_predicate(clause, subject) for subject in islice(_subject().finditer(clause), _MOST_SUBJECTS))
    if found := [predicate for predicate in read if predicate is not None]:
        if " and " in clause:
            found += [each for predicate in found for each in _further(clause, predicate)]
        headless = _headless(clause)  # "sold the Polo and I have a Zoe"
        found = [headless, *found] if headless and headless.start < min(each.start for each in found) else found
        return (*found, *_next(clause, found[-1])) if COMMA.search(clause, found[-1].start) else tuple(found)
    headless = _headless(clause)
    first = () if headless is None else (headless,)
    return (*first, *_next(clause, headless)) if COMMA.search(clause) else first


def _next(clause: str, first: Predicate | None) -> Iterator[Predicate]:
    """What follows without a subject: "handed in my notice at Zoho, been at Infosys since May"."""
    start, who = (first.start, first.who) if first else (0, None)
    for part in islice(COMMA.finditer(clause, start), MOST_PARTS):
        rest = clause[part.end() :]
        if (found := _headless(rest)) is not None and (not GOING_ON.match(rest) or _AGAIN.search(rest)):
            yield replace(found, who=who, start=found.start + part.end())


_AND = re.compile(r" and (?:then |also |now |finally |just |even )?(?=[a-z]+ )")


def _further(clause: str, predicate: Predicate) -> Iterator[Predicate]:
    """What else the same subject did: "I quit Google and opened a bakery"."""
    if predicate.tense not in ("past", "perfect") and not predicate.ended:
        return
    for link in _AND.finditer(clause, predicate.start):
        rest = clause[link.end() :]
        done = base_form(_first(rest))[1] in ("past", "perfect")
        if done and (found := _Reader(rest).predicate(predicate.who, len(clause))) is not None:
            yield found


def _headless(clause: str) -> Predicate | None:
    """A clause without a subject, whose verb can only be the author's: "Sold the car", "just moved to Oslo"."""
    found = HEADLESS.match(clause)
    if found is None or (found["verb"].lower().endswith("ing ") and GERUND.search(clause, found.end())):
        return None
    reader = _Reader(clause[found.start("verb") :])
    planned = found["verb"].lower().endswith("ing ") and AHEAD.search(clause, found.end()) is not None
    reader.being = planned or STATE.match(reader.rest) is not None
    return reader.predicate(None, len(clause))


#: "Duncan, my husband, is a vet".
_NAMED_BEFORE = re.compile(r"(?:^|[.,;!?] |^(?:and|so|but|well|oh),? )([A-ZÀ-Þ][A-Za-zÀ-ÿ'-]+), $")


def _predicate(clause: str, subject: re.Match[str]) -> Predicate | None:
    start = subject.end() + 1
    reader = _Reader(clause[start:])
    who = None
    if holder := subject["holder"]:
        named = (subject["name"] or "").strip(" ,")
        if subject[0].endswith(",") and reader.rest.startswith("who "):  # "my mother, who is 85"
            reader.rest = reader.rest.removeprefix("who ")
        elif subject[0].endswith(",") and not named:
            if (before := _NAMED_BEFORE.search(clause, 0, subject.start())) is None:
                return None
            named = before[1]
        who = f"{holder.lower()} {named}".strip()
        reader.having = bool(subject["is"]) and _HAS_DONE.match(reader.rest) is not None
        reader.being = bool(subject["is"]) and not reader.having
    else:
        spoken = subject["self"].lower()
        reader.being = spoken.endswith(("'m", " am", "'re", " are", "been")) or spoken in ("im", "i m")
        reader.having = spoken.endswith(("'ve", "ive", "have"))
        reader.planned = spoken.endswith("'ll")
        if reader.having and _owns(reader.rest):  # "I've four brothers"
            reader.rest, reader.having = f"have {reader.rest}", False
        if spoken.endswith("'d") or spoken == "id":
            reader.rest = f"would {reader.rest}"
    reader.new = _SINCE.search(clause[: subject.start()]) is not None
    return reader.predicate(who, len(clause))


#: "My brother's left Vodafone": has, not is.
_HAS_DONE = re.compile(
    r"(?:just |now |finally |already |recently )*(?:left|moved|started|got|quit|gone|become|been|had|bought|sold|lost"
    r"|stopped|joined|switched|changed|retired|outgrown|given|taken|found|had|turned|passed) ",
    re.IGNORECASE,
)
_OWNED = re.compile(
    r"(?:an?|no|my|our|some|several|two|three|four|five|six|seven|eight|nine|ten|[0-9]+|lots of|loads of"
    r"|plenty of) (?!of\b)",
    re.IGNORECASE,
)


def _owns(rest: str) -> bool:
    """Whether what follows "I've" is what one has, and no participle: "I've red hair"."""
    if _OWNED.match(rest):
        return True
    word = _first(rest).lower()
    done = base_form(word)[1] in ("past", "perfect") or (len(word) > 4 and word.endswith(("ed", "en", "ly", "wn")))
    return not done and word.isalpha() and len(word) > 2 and word not in words().no_objects


class _Reader:
    """Reads what follows a subject, word by word, up to the verb."""

    def __init__(self, rest: str) -> None:
        self.rest = rest
        self.being = self.having = self.past = self.perfect_doing = False
        self.planned = self.negated = self.ended = self.new = self.besides = self.once = self.wished = False

    def predicate(self, who: str | None, size: int) -> Predicate | None:
        """Return the predicate, in a clause of this size; None: it is only supposed, or has no verb."""
        while self._modifier():
            pass
        verb = _first(self.rest)
        if not verb or _SUPPOSED.match(self.rest) or (self.past and self.planned):
            return None  # "I was going to sell the car"
        start = size - len(self.rest)
        after = self.rest[len(verb) :]
        tense: Tense = "past" if self.past else "present"
        doing = self.being and verb.lower().endswith("ing") and verb.lower() not in _NO_VERBS
        if self.being:
            text = base_form(verb)[0] + after if doing else f"be {self.rest}"
        elif self.having and verb.lower() == "got":
            text = f"have{after}"
        else:
            base, form = base_form(verb)
            text = base + after
            tense = "perfect" if self.having and form != "present" else form
        self._read_end()
        single = who is not None and not set(who.split(" ")) & set(several())
        if single and not self.being and not self.having and form_is_base(verb) and not self.negated:
            who = None  # "me and my cousin own": they and the author
        return Predicate(
            who=who,
            text=text.strip(),
            tense="planned" if self.planned else tense,
            negated=self.negated,
            ended=self.ended,
            new=self.new,
            besides=self.besides,
            once=self.once,
            wished=self.wished,
            doing=doing and not self.perfect_doing,
            start=start,
        )

    def _modifier(self) -> bool:
        """Take one word or phrase before the verb off what is left to read; False: the verb is next."""
        for pattern, take in _MODIFIERS:
            if (found := pattern.match(self.rest)) and take(self, found):
                self.rest = self.rest[found.end() :]
                return True
        return False

    def _read_end(self) -> None:
        """Read what stands after the verb and changes what it says. New is also "can't stand it any more"."""
        if self.negated and (_ANY_MORE.search(self.rest) or _AFTER_ALL.search(self.rest)):
            self.negated, self.ended = False, True
        self.new |= bool(_AGAIN.search(self.rest) or (not self.ended and _ANY_MORE.search(self.rest)))
        self.besides = self.besides or bool(_BESIDES.search(self.rest) or _TOO.search(self.rest))


def _take_adverb(reader: _Reader, found: re.Match[str]) -> bool:
    if found["plain"] and (found["plain"].lower() in words().no_adverbs or _NEARLY.match(reader.rest)):
        return False
    reader.new = reader.new or bool(found["new"])
    reader.besides = reader.besides or bool(found["more"])
    return True


def _take_negation(reader: _Reader, found: re.Match[str]) -> bool:
    word = found[0].lower()
    if word.startswith(("can", "couldn")):
        return False
    reader.negated = True
    reader.being = reader.being or word.startswith(("is", "are", "ain", "was", "were"))
    reader.past = reader.past or word.startswith(("didn", "did", "was", "were", "hadn"))
    reader.having = reader.having or word.startswith(("hav", "has", "had"))
    reader.planned = reader.planned or word.startswith(("won", "will"))
    return True


def _take_plan(reader: _Reader, found: re.Match[str]) -> bool:
    if found[0].lower().strip() in ("want", "wants", "considering", "dreaming of", "like to", "love to"):
        return False  # verbs of their own
    reader.planned, reader.being = True, False
    reader.wished = reader.wished or _WISH.search(found[0]) is not None
    return True


def _take_be(reader: _Reader, found: re.Match[str]) -> bool:
    reader.being = True
    reader.perfect_doing = reader.perfect_doing or found[0].lower().startswith("been")
    reader.past = reader.past or found[0].lower().startswith("w")
    return True


def _take_have(reader: _Reader, found: re.Match[str]) -> bool:
    rest = reader.rest[found.end() :]
    while (adverb := _ADVERB.match(rest)) and (adverb["plain"] or "").lower() not in words().no_adverbs:
        rest = rest[adverb.end() :]
    following = _first(rest).lower()
    participle = (following.endswith("ed") and len(following) > 4) or base_form(following)[1] in ("past", "perfect")
    if following not in ("not", "never") and not participle:
        return False
    reader.having = True
    return True


def _take_end(reader: _Reader, _: re.Match[str]) -> bool:
    reader.ended = True
    return True


def _take_start(reader: _Reader, found: re.Match[str]) -> bool:
    following = _first(reader.rest[found.end() :]).lower()
    if not (following.endswith("ing") or found[0].lower().endswith(" to ")):
        return False
    reader.new, reader.being = True, False
    return True


def _take_done(reader: _Reader, _: re.Match[str]) -> bool:
    reader.past = True
    return True


def _take_once(reader: _Reader, _: re.Match[str]) -> bool:
    reader.once = True
    return True


_Take = Callable[[_Reader, "re.Match[str]"], bool]
_MODIFIERS: tuple[tuple[re.Pattern[str], _Take], ...] = (
    (_USED_TO, _take_once),
    (re.compile(r"(?:had to|ended up|managed to) ", re.IGNORECASE), _take_done),
    (_NO_LONGER, _take_end),
    (_STOPPED, _take_end),
    (_STARTED, _take_start),
    (
        re.compile(r"would (?:much |really |definitely |always )?(?=rather |sooner |prefer )", re.IGNORECASE),
        lambda *_: True,
    ),
    (_PLANNED, _take_plan),
    (_NEGATION, _take_negation),
    (re.compile(r"(?:am|is|are|'m|'re|was|were|been|being|be) ", re.IGNORECASE), _take_be),
    (re.compile(r"(?:have|has|had|'ve) ", re.IGNORECASE), _take_have),
    (_ADVERB, _take_adverb),
)
#: Words in -ing that are no forms of a verb.
_NO_VERBS = frozenset(
    {
        *("nothing", "something", "anything", "everything", "morning", "evening", "king", "ring", "thing", "sibling"),
        *("boring", "interesting", "amazing"),
    }
)


def form_is_base(verb: str) -> bool:
    """Whether a verb stands in its base form, as it does after several people."""
    return base_form(verb) == (verb.lower(), "present")


def _first(text: str) -> str:
    found = _WORD.match(text)
    return found[0] if found else ""
