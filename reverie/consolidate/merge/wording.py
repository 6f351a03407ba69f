# ruff: noqa: E501 -- a table of phrases, one group a line
"""Reads what a memory says for its comparison with another: words of one meaning folded, and what sets memories apart.

Pure, for English. A text is read once, in about 60 us.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from reverie.language.contradiction import Assertion, read

#: Left: patterns of what means the same; right: how it is written for the comparison. In order.
_FOLDS = tuple(
    (re.compile(rf"\b(?:{pattern})(?![\w'’])", re.IGNORECASE), fold)
    for line in r"""
    would (?:much )?rather|would sooner > prefers
    prefers not to > does not want to
    discuss(?:ing)? > talk about
    is bad at|is no good at|is terrible at|is hopeless at > is not good at
    is intolerant (?:to|of) (\w+)|is (\w+)[ -]intolerant > cannot tolerate \1\2
    reports to ([A-Z]\w+)|([A-Z]\w+) is (?:the |her |his |their |my )?(?:boss|manager|supervisor|line manager) > manager is \1\2
    (?:boss|supervisor|line manager) is(?: called| named)? > manager is
    is free(?= (?:on|at|after|before|in|from|every)) > is available
    can be reached by email at|e-?mail(?: address)? is > email address is
    can be reached (?:on|at)|phone number is|number is|telephone number is > phone number is
    birthplace is > was born in
    on (mon|tues|wednes|thurs|fri|satur|sun)days?(?: (morning|evening|night|afternoon))?s > every \1day \2
    (?:pupil|student) at(?= (?:[A-Z])) > student at
    favou?rite (\w+) (?:is|are) ([A-Z][\w ]+)$|([A-Z][\w ]+?) (?:is|are) (?:her|his|their|the|my) favou?rite (\w+) > favorite \1\4 is \2\3
    writer|novelist > author
    practi[sc]es(?= (?:[a-z]+(?:ing|ry|o)\b)) > does
    got(?= (?:divorced|married|engaged|promoted|fired)) > was
    baby(?= (?:girl|boy|daughter|son)) > 
    bicycle > bike
    granddad|grandpa|gramps > grandfather
    grandma|granny|nan|nana > grandmother
    half a dozen|half-dozen > 6
    a dozen|one dozen|dozen > 12
    a couple of|a pair of|both > 2
    a single > 1
    no one|nobody > not anybody
    thrice > three times
    (?:two|2) times > twice
    (?:one|1) time > once
    is aged (\d+)|is (\d+) years old|age is (\d+)|is (\d+) years of age > is aged \1\2\3\4
    hits the gym|works out at the gym > goes to the gym
    dishes|cuisine > food
    is taking (\w+) (?:lessons|classes)|takes (\w+) (?:lessons|classes)|is learning to play(?: the)?|learns to play(?: the)? > is learning \1\2
    ([A-Z]\w+) is (?:the|his|her|their|my) (?:husband|wife|spouse) > is married to \1
    (?:husband|wife) is(?: called| named)? > is married to
    has an? (\w+) (?:called|named) > \1 called
    collects > has a collection of
    writes with (?:the|her|his|their) (left|right) hand > is \1-handed
    has(?= (?:type \d diabetes)) > is
    diabetic > diabetes
    (?:each|per)(?= (?:day|week|month|year|morning|evening|night|hour)) > every
    every day|daily|a day|everyday|day after day|day-to-day > every day
    every week|weekly|a week > every week
    every month|monthly|a month > every month
    every year|yearly|annually|a year > every year
    every night|nightly > every night
    every second(?= (?:day|week|month|year)) > every other
    bi-?weekly|fortnightly|every two weeks|every fortnight > every other week
    have got|has got|['’]ve got > has
    is having > has
    is living > lives
    is working > works
    is residing in|resides in|home is in|home town is|hometown is|makes (?:his|her|their|my|a) home in|is based in|is settled in|lives over in|calls?(?= (?:[A-Z]\w+ home)) > lives in
    works for|is employed (?:at|by|with)|is on the staff of|has a job (?:at|with)|job is at|employer is > works at
    is an?(?= (?:(?:\w+ )?(?:eater|drinker|smoker|speaker|player|runner)\b)) > is
    (?:really |absolutely |truly |totally )?(?:loves|love|adores|adore|enjoys|enjoy|is (?:very )?(?:fond of|keen on|into)|is a (?:big |huge )?fan of|likes|is crazy about|is mad about) > likes
    (?:can['’]?t|cannot|can not) (?:stand|bear|abide)|hates?|detests?|loathes?|dislikes?|is not (?:fond of|keen on|a fan of|into)|isn['’]t (?:fond of|keen on|a fan of|into)|does not care for|doesn['’]t care for > does not like
    never(?= (?:eats|drinks|smokes|likes)) > does not
    does not touch|doesn['’]t touch|stays off|abstains from > does not have
    (?:is|am) scared of|is afraid of|is frightened of|is terrified of|has a fear of|has a phobia of > fears
    likes? (.{2,40}?) (?:better|more) than > prefers \1 over
    (prefers? .{2,40}?) (?:rather than|instead of|to) > \1 over
    favou?rs > prefers
    has an? (.{2,20}?) allergy|has an allergy to (.{2,20})|suffers from an? (.{2,20}?) allergy > is allergic to \1\2\3
    (?:can|is able to) speak|is fluent in|speaks fluent|is a(?:n?) speaker of|knows how to speak > speaks
    is able to|knows how to|is capable of > can
    girls > daughters
    boys > sons
    little girl|baby girl|girl > daughter
    little boy|baby boy|boy > son
    kids|children|youngsters > children
    kid > child
    mom|mum|mommy|mummy|mama > mother
    dad|daddy|papa > father
    mate|pal|buddy > friend
    best friend > best friend
    spouse|better half > partner
    flat > apartment
    doctor|physician|gp > doctor
    attorney > lawyer
    automobile > car
    motorbike > motorcycle
    cell(?:phone| phone)?|mobile(?: phone| number)? > phone
    telephone > phone
    house > house
    spectacles > glasses
    (?:takes|is taking|is on|uses|has been prescribed|is prescribed)(?= (?:\w+ for\b|\d)) > takes
    works as|job is|earns (?:his|her|their|a) living as|makes a living as|is employed as|profession is|is by profession > is
    goes running|goes for (?:a run|runs)|goes jogging|jogs > runs
    goes swimming|goes for a swim > swims
    goes hiking|goes on hikes|goes for hikes > hikes
    goes cycling|rides (?:a |his |her |the )?(?:bike|bicycle)|cycles > cycles
    goes climbing > climbs
    goes fishing > fishes
    goes dancing > dances
    ['’]s name is >  called
    goes by|is named|is called|name is|answers to|named|called > called
    was born on|born on|birthday falls on|date of birth is|birthday is on > birthday is
    was born in|was raised in|grew up in|spent (?:his|her|their|my) childhood in > grew up in
    comes from|originally from|hails from|is a native of > is from
    is wed to|is hitched to > is married to
    has the name > called
    is(?= (?:a (?:mother|father|parent) of )) > has is
    is the (?:mother|father|parent) of|is a (?:mother|father|parent) of|is (?:mother|father) to > has
    resigned from|quit|handed in (?:his|her|their) notice at > left
    purchased > bought
    relocated|moved house > moved
    finished > completed
    commutes|gets to work|goes to work|travels to work > commutes
    owns|possesses|is the owner of|is an owner of > has
    runs a business|owns a business > runs a business
    attends|goes to|is a student at|studies at|is enrolled at > attends
    works out > exercises
    wakes up|gets up|rises > wakes
    goes to bed|goes to sleep|turns in > sleeps
    phoned?|rings?|telephones > call
    shop|store > shop
    movie|movies|film|films > movie
    vegetarian diet|is a vegetarian|eats vegetarian > is vegetarian
    vegan diet|is a vegan|eats vegan > is vegan
    is going to|intends to|is planning to|plans on|is thinking of|is set to|aims to|has plans to|will > plans to
    wants to|would like to|['’]d like to|hopes to|wishes to|dreams of|is hoping to|would love to|['’]d love to > wants to
    has to|must|needs to|is required to|is obliged to|ought to|should > has to
    no longer|not anymore|(?:has )?(?:stopped|given up|gave up) > no longer
    mostly|usually|typically|normally|generally|as a rule > usually
    frequently|regularly|a lot > often
    rarely|seldom|hardly ever > rarely
    occasionally|now and then|from time to time|once in a while > sometimes
    currently|at the moment|right now|these days|nowadays|at present|presently|today > 
    """.splitlines()
    if " > " in line
    for pattern, fold in [line[4:].split(" > ", 1)]
)
#: Words of a class; two memories that do not have the same of a class are not the same.
_MARKS = tuple(
    re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)
    for pattern in (
        r"wants?|wanted",
        r"has to",
        r"plans to|considering|thinking|tries|trying",
        r"can|could|may|might",
        r"no longer|until|before|after|almost|nearly|if|unless|except|only|but not|instead",
        r"lends?|lent|lending|owes?|borrows?|borrowed|borrowing|teaches|learns|buys|sells|selling|buying|gives|gave|sends|receives"
        r"|tenant|landlord|hires|rents|renting|lets",
        r"some|few|most|all|every(?:one|thing)|many|several|any|more|less|fewer|least|over|under|above|below|at least|at most",
        r"always|often|sometimes|rarely|every other|twice|once|(?:two|three|four|five|six|seven|\d+) times",
        r"starts?|starting|started|begins?|began|finish(?:es|ed)?|stops?|ends?",
        r"out|back|away|off",
        r"and",
    )
)
#: A finite verb that stands in the past, or a word that says that it is over.
_PAST = re.compile(
    r"\b(?i:used to|was|were|had|did|formerly|former|previously|once was|ex|in the past|went|ran|ate|drank|taught|wrote|kept"
    r"|drove|rode|spoke|bought|sold|grew|left|took|gave|got|lost|made|met|stole|broke|fought|became|began|won|lent|ago"
    r"|laid|quit|split|moved|stopped)\b|\bsince \d{4}\b"
    r"|^(?!(?:Is|Has|Are|Have|Allergic|Called|Based|Named|Retired|Married)\b)(?:[A-Z]\w+ )?(?!called|named|aged|based)"
    r"[A-Za-z]{2,}ed\b(?! (?:by|as)\b)|\b(?:she|he|they|someone|Someone) [a-z]{2,}ed\b",
)
_PERIOD = re.compile(r"\bevery (?:other )?(\w+)", re.IGNORECASE)
_PEOPLE = re.compile(
    r"\b(?:(?:grand|step)?(?:mother|father|son|daughter|parent)s?|sisters?|brothers?|friends?|cousins?|aunts?|uncles?|nieces?"
    r"|nephews?|wife|husband|partner|girlfriend|boyfriend|boss|manager|colleagues?|coworkers?|neighbou?rs?|roommates?"
    r"|flatmates?|teacher|doctor|child(?:ren)?|clients?|customers?|team|family|in-laws?|twins?|bab(?:y|ies))\b",
    re.IGNORECASE,
)
#: "Greta owes her": not of "was", which turns who does what.
_DOER = re.compile(
    r"([A-Z][a-z]+) (?!is\b|was\b|has\b|called\b|as\b|[a-z]+'s)(?:[a-z]{2,}(?:s|ed)|lent|took|gave|told|met)\b(?! (?:at|in|of|on)\b)"
)
_PASSIVE = re.compile(r"\b(?:is|was|are|were|been|being|got) [a-z]+(?:ed|id|en|nt|ght)\b")
_OWNED = re.compile(r"\b(\w+)['’]s\b(?! (?:not|a|an|the|is)\b)")
_DENIAL = re.compile(r"\b(?:not|never|no|none|neither|nor|without|cannot|hardly)\b|n['’]t\b", re.IGNORECASE)
_PLACED = re.compile(
    r"\b(from|to|for|against|before|after|with|without|by|of) (?:the |a |an |my |his |her )?(\w+)", re.IGNORECASE
)
_VERB = re.compile(r"\b[a-z]{3,}ed\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wording:
    """What a memory says, for its comparison with another."""

    #: The text with words of one meaning folded.
    folded: str
    assertion: Assertion
    words: frozenset[str]
    #: Of each class of marks (wish and duty, lender and borrower), those in the text; then periods and people.
    marks: tuple[frozenset[str], ...]
    #: Whether it speaks of the past.
    past: bool
    #: Names that stand before the verb: who does it.
    doer: str | None
    denials: int
    owned: frozenset[str]
    placed: frozenset[tuple[str, str]]
    #: Stems of verbs that stand in the past.
    ended: frozenset[str]


@lru_cache(maxsize=65_536)
def read_wording(text: str) -> Wording:
    """Return what a memory says."""
    folded = text
    for pattern, fold in _FOLDS:
        folded = pattern.sub(fold, folded)
    folded = " ".join(folded.split())
    assertion = read(folded)
    found = [frozenset(match[0].lower() for match in mark.finditer(folded)) for mark in _MARKS]
    periods = frozenset(match[1].lower() for match in _PERIOD.finditer(folded))
    people = frozenset(match[0].lower() for match in _PEOPLE.finditer(folded))
    return Wording(
        folded=folded,
        assertion=assertion,
        words=frozenset(assertion.content),
        marks=(*found, periods, people),
        past=_PAST.search(folded) is not None,
        doer=None if (first := _DOER.match(folded)) is None else first[1].lower(),
        denials=len(_DENIAL.findall(folded)) % 2,
        owned=frozenset(match[1].lower() for match in _OWNED.finditer(folded)),
        placed=frozenset((match[2].lower().removesuffix("s"), match[1].lower()) for match in _PLACED.finditer(folded)),
        ended=frozenset(match[0].lower().removesuffix("ed") for match in _VERB.finditer(folded)),
    )


def differs(one: Wording, other: Wording) -> str | None:
    """Return in what two memories differ that makes them two, or None: symmetric."""
    for name, mine, yours in zip(_CLASSES, one.marks, other.marks, strict=True):
        if mine != yours:
            return name
    if one.past != other.past:
        return "past"
    if _swapped(one, other) or _swapped(other, one):
        return "role"
    if one.denials != other.denials:
        return "polarity"
    if one.owned != other.owned:
        return "owner"
    if one.assertion.numbers != other.assertion.numbers and _values(one) != _values(other):
        return "number"
    if _turned(one, other):
        return "role"
    if _ended(one, other) or _ended(other, one):
        return "past"
    return "value" if _does_other(one, other) or _does_other(other, one) else None


#: Verbs that say little by themselves; letters by which two stems are of one root.
_LIGHT = frozenset(("take", "go", "get", "make", "do", "use", "keep", "thing"))
_ROOT = 5
_TURNING = frozenset(("with", "without", "against", "from"))
_CLASSES = (
    *("wish", "duty", "plan", "possibility", "limit", "role", "amount", "frequency", "change", "direction", "list"),
    *("frequency", "person"),
)


def _values(wording: Wording) -> frozenset[str]:
    return frozenset(value for value, _ in wording.assertion.numbers)


def _swapped(one: Wording, other: Wording) -> bool:
    """Whether somebody who does it in one is no more than named in the other: "Greta owes her", "owes Greta"."""
    if one.doer is None or one.doer == other.doer or _PASSIVE.search(other.folded):
        return False
    return re.search(rf"\b{re.escape(one.doer)}\b", other.folded, re.IGNORECASE) is not None


def _turned(one: Wording, other: Wording) -> bool:
    """Whether a word follows another preposition: "moved from Oslo", "moved to Oslo"."""
    mine, yours = dict(one.placed), dict(other.placed)
    return any(yours.get(word, how) != how for word, how in mine.items()) or any(
        how in _TURNING
        and word not in there
        and word in {each.lower().removesuffix("s") for each in wording.folded.split()}
        for here, there, wording in ((mine, yours, other), (yours, mine, one))
        for word, how in here.items()
    )


def _does_other(one: Wording, other: Wording) -> bool:
    """Whether one begins with a verb of its own, "watches football", that the other does not have."""
    content, names = one.assertion.content, one.assertion.names
    at = 1 if len(content) > 1 and content[0] in names else 0
    starts = one.assertion.verb_first or at
    return bool(starts and content) and content[at] not in _LIGHT and _alone(content[at], other)


def crossed(one: Wording, other: Wording) -> tuple[int, int]:
    """Return how many content words each has that the other has not, the fewer first."""
    mine = sum(_alone(word, other) for word in one.words - other.words - _LIGHT)
    yours = sum(_alone(word, one) for word in other.words - one.words - _LIGHT)
    return min(mine, yours), max(mine, yours)


def _alone(word: str, other: Wording) -> bool:
    """Whether the other has no word of this root: "volunteers", "does volunteer work"."""
    return not any(word[:_ROOT] == each[:_ROOT] for each in other.words)


def _ended(one: Wording, other: Wording) -> bool:
    """Whether a verb stands in the past in one of them alone: "lived", "lives"."""
    present = {word.lower() for word in other.folded.split()}
    return any(stem + end in present for stem in one.ended - other.ended for end in ("", "e", "s", "es", "ing"))


def order_kept(one: Wording, other: Wording) -> float:
    """Return the share of neighbouring content words that both have in the same order."""
    mine, yours = set(pairwise(one.assertion.content)), set(pairwise(other.assertion.content))
    return len(mine & yours) / max(min(len(mine), len(yours)), 1)
