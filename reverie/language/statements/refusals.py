"""Why what a rule reads in a clause is not kept, and the last trims of what is.

A rule knows the words of one form; these are about the clause around them, and hold for all rules alike. The checks of
an object by itself are in `trimming`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from reverie.model import Phase

_FLAGS: Final = re.IGNORECASE | re.ASCII


class Said(NamedTuple):
    """A statement that a rule has read, before it is kept."""

    clause: str
    #: a name of the policy's table; None: a rule that names none
    relation: str | None
    phase: Phase
    topic: str | None
    #: what the rule captured, without what follows it
    object: str
    #: of whom it is said; None: of the author
    who: str | None = None


#: Words after which "I" begins a clause about something that is not named in what follows: "what I enjoy the most".
_ASKED: Final = re.compile(
    r"\b(?:what|whatever|where|wherever|how|who|whom|whose|which|something|anything|everything|nothing|things?|stuff"
    r"|places?|ones?|way|all)(?: that)? (?:i|we|i'm|im|i've|ive|we're|we've)$",
    _FLAGS,
)
_TIME: Final = (
    r"(?:moment|days?|mornings?|afternoons?|evenings?|nights?|weeks?|weekends?|months?|years?|summers?"
    r"|winters?|springs?"
    r"|falls?|autumns?|times?|seasons?|holidays?|end|beginning|start|meantime|past|future|hand|side|whole"
    r"|note|while|age"
    r"|january|february|march|april|may|june|july|august|september|october|november|december|[a-z]+day)"
)
#: A noun with its article right before "I", and no word of time: "another pose I love", "the book I'm reading".
_OF_A_NOUN: Final = re.compile(
    rf"(?:^|[^a-z']|\b(?:is|was|are|were|see|saw|this is|like|love|from|for|of|here's|heres|finished) )"
    rf"(?:the|an?|this|these|those|another|any|first|best|only) (?:[\w'-]+ ){{0,3}}(?!(?:{_TIME}|as"
    rf"|because|kid|child|boy|girl|teenager|baby|student|since|when|while|but|so|and|though|if|than|before"
    rf"|after|until) )[\w'-]+"
    r"(?: that)? (?:i|we|i'm|im|i am|i've|ive|we're|we are|we've)$",
    _FLAGS,
)
_BEFORE_A_NOUN: Final = re.compile(
    r"\b(?:as|was|were|after|before|during|in|on|at|since|until|by|with|without|about) $", _FLAGS
)
_SUBJECT: Final = re.compile(r"\b(?:i'm|im|i am|i've|ive|i|we're|we are|we've|we)(?= )", _FLAGS)
#: An object that begins so is the rest of another clause: "is the tree pose", "and acceptance".
_LEADING: Final = re.compile(
    r"(?:is|are|was|were|makes?|made|has|have|had|can|could|will|would|and|or|but|nor|than|as well"
    r"|the most|the best|more"
    r"|most|least)\b(?! (?:fun|than)\b)"
    r"|(?:at|in|on|for|with|to|since) (?:yesterday|today|tonight|tomorrow|now|last|this)\b",
    _FLAGS,
)
_ADDRESSED: Final = re.compile(r"\b(?:you|your|yours|yourself|u|ur)\b", _FLAGS)
_PRONOUN: Final = re.compile(
    r"\b(?:(?-i:[Ii]t)|them|him|he|she|they|(?-i:us)|that one|this one|the following)\b", _FLAGS
)
#: What ends with a pronoun and its verb has its noun in the sentence before: "the joy it brings", "this genre".
_POINTING: Final = re.compile(
    r"\b(?:(?-i:[Ii]t)|they|this(?! (?:coming )?(?:year|month|week|weekend|summer|winter|spring|autumn|fall|term"
    r"|[a-z]+day))|that)"
    r" [a-z]+s?$|\b(?:it once|never had a problem)\b"
    r"|\b(?:this|that|these|those) (?!(?:year|month|week|weekend|summer|winter|spring|fall|semester|season|takes?"
    r"|took)\b)(?:[a-z]+ )?(?:genre|world|place|book|movie|song|show|game|app|spot|story|leaves|kids?"
    r"|thing|kind|type|sort)s?\b"
    r"|^all the\b",
    _FLAGS,
)
#: What belongs to somebody that the clause does not name: "I love their work".
_ANOTHERS: Final = re.compile(r"(?:his|her|their|its)\b", _FLAGS)
_SOMEBODY: Final = re.compile(
    r"\b(?:my|our|the|an?|who|friends?|people|and|kids|parents)\b|(?-i:[a-z,] [A-Z][a-z])", _FLAGS
)
#: A quality of what was shown or spoken of: "I love the creativity".
_THE_QUALITY: Final = re.compile(
    r"the (?!(?:outdoors?|beach|ocean|sea|mountains?|sun|rain|snow|cold|heat|winter|summer|autumn|fall|spring"
    r"|city|country|countryside|gym|water|forest|woods|lakes?|rivers?|parks?|night|dark|weekends?|holidays?|cinema"
    r"|theat(?:er|re)|arts?|news|internet|mornings?|evenings?|sauna|library|desert|wilderness|classics)\b)"
    r"(?-i:[a-z-]+(?: [a-z-]+)?)",
    _FLAGS,
)
_NO_LONGER: Final = re.compile(r"\bany ?more\b|\bno longer\b|\bused to\b", _FLAGS)
#: Wishes that anybody has.
_VACUOUS: Final = re.compile(
    r"(?:(?:help|keep|start|make|do|try|be|get|give|have|inspire|find|see|create|spread|show|use"
    r"|reach|continue|go|to) ?)+"
    r"(?:to )?(?:some |a |the |my |our |for |an |new |big |best |real |positive |bigger |better |more |out "
    r"|and |up |going"
    r"|pushing |working |making |trying |helping |improving |growing |reaching |doing |others |people |in |of )*"
    r"(?:difference|impact|changes?|that happen|this happen|it happen|goals?|things?|life|the world|world|others|people"
    r"|dreams?|progress|better|best|going|positive|something|everything|ways?)"
    r"(?: (?:in|for|to|on) (?:the |my |our |their )?(?:world|others|people|life|lives|community))?[.!]*",
    _FLAGS,
)
_BEFORE_AGE: Final = re.compile(
    r"\b(?:when|since|before|after|until|as soon as) (?:i|he|she|we|they)\b|\b(?:feel|feeling|look|act)s? like\b",
    _FLAGS,
)
_WHENEVER: Final = re.compile(r"\b(?:when|whenever|in case|in the event)\b", _FLAGS)
_AT_SCHOOL: Final = re.compile(
    r"(?:high |middle |grad |law |med(?:ical)? |art |elementary )?(?:school|college|university|uni)", _FLAGS
)
#: What may hold any word: "she/her", an address, a rule.
_ANY_WORDS: Final = frozenset(
    ["pronouns", "name", "nickname", "email", "phone", "address", "standing_rule", "answer_in", "availability"]
)
#: Whose objects may begin like the rest of another clause: "Will", "more of a homebody".
_OWN_WORDS: Final = frozenset(["partner", "trait"])
#: What makes ill is no supposition: "I come out in a rash if I eat prawns".
_EATEN: Final = re.compile(r"\b(?:if|when) i (?:eat|touch|have|drink|wear) ", _FLAGS)
_WEEKS_SOBER: Final = re.compile(r"\b(?:days|weeks|months|years?) (?:sober|clean)", _FLAGS)
_REACTION: Final = re.compile(
    r"^(?:(?!(?:i|we) )[a-z]+[,!]? )?(?:love|like|loving|enjoyed|loved) (?:the|his|her|all|how|that|this)\b",
    _FLAGS,
)
_TALK: Final = re.compile(r"\b(?:our|this) (?:chats?|conversations?|talks?|discussions?)\b", _FLAGS)
#: Verbs that need an object: "countries I want to visit".
_BARE: Final = re.compile(
    r"(?:visit|do|see|have|make|get|be|try|buy|find|create|build|start|open|win|give|write|improve|explore|achieve"
    r"|(?:play|work|go|talk|deal|live) with)(?: (?:in the future|someday|one day|soon|again|regularly|too))?",
    _FLAGS,
)
_NAMING: Final = re.compile(
    r"\b(?!(?:with|about|having|being|doing|going|making|when|that|from|some|very|just)\b)[a-z]{4,}\b", _FLAGS
)
_DENIED: Final = re.compile(
    r"\b(?:not (?:that|like|as if|because)|(?:isn't|is not|not) (?:like|as though|to say)(?: that)?)"
    r" (?:i|we|i'm|i've|my)\b",
    _FLAGS,
)
_SUPPOSED: Final = re.compile(
    r"\b(?:if|unless|wish|imagine|suppose|supposing|pretend|as though|as if|in my dreams?|in another life"
    r"|hypothetically"
    r"|dreamed|dreamt|dream again|recurring dream|when i have|once i have|until i have)\b",
    _FLAGS,
)
_JOKE: Final = re.compile(r"(?:\b(?:jk|just kidding|kidding|not really)\b|/s\b)[ .!)]*$", _FLAGS)
#: "One more meeting and I quit Zoho lol".
_THREAT: Final = re.compile(
    r"^(?:and |or )?(?:i|we)(?:'m| am)? (?:quit|quitting|resign|resigning|leave|leaving)\b.*"
    r"\b(?:lol|lmao|haha+)[ .!)]*$",
    _FLAGS,
)
_NEARLY: Final = re.compile(r"\b(?:basically|practically|virtually|pretty much|almost like|like a)\b", _FLAGS)
_STANDING: Final = frozenset(["marital_status", "works_as", "retired", "has_child", "diet", "religion", "nationality"])
_ANOTHERS_NAME: Final = re.compile(
    r"\b(?:his|her|its|their|whose|your|(?<!^)the|dog|cat|baby|[a-z]+'s(?! the name)) (?:[a-z]+ )?name\b", _FLAGS
)
#: Somebody else's number: "the plumber's new number is", "dad's got a new number".
_ANOTHERS_NUMBER: Final = re.compile(
    r"(?:^|[^a-z'])(?!(?:it|that|this|here|there|what|who|where|how|let|he|she)'s)[a-z]+'s (?:(?:got|has|changed)"
    r" (?:(?:an?|his|her|their) )?)?(?:new |old |work |home |mobile |cell |phone |e-?mail |postal |other )*"
    r"(?:number|mobile|cell|phone|landline|e-?mail|address|place)\b",
    _FLAGS,
)
_CONTACTS: Final = frozenset(["phone", "email", "address"])
#: Words after "call me", or before "here", that are no names, and a name that is refused.
_NO_NAME: Final = re.compile(
    r"(?:when|if|at|on|back|later|tomorrow|tonight|today|anytime|any|soon|now|asap|crazy|lazy|names?|mud|mad"
    r"|old|stupid|dumb"
    r"|paranoid|weird|picky|and|or|the|same|nothing|everyone|anyone|someone|something|mom|mum|dad|over|right|out|down"
    r"|pronounced|spelled|spelt|hard|difficult|easy|unusual|common|taken|new|nobody|lurker|newbie|first|long"
    r"|mad|thanks|congrats"
    r"|[a-z]+day|american|canadian|british|brit|german|indian|aussie|vegan|vegetarian|veggie|muslim|christian"
    r"|catholic|hindu"
    r"|teacher|nurse|student|dad|night|light|sounds?|hi|hello|hey|happy|merry|welcome|cheers|love|peace"
    r"|up|yes|no|still|just|but|that|this|not|from|in|before|after|whenever|once|so|for|about|with|to)\b.*",
    _FLAGS,
)
_NOT_CALLED: Final = re.compile(r"\b(?:don't|dont|do not|never|stop|hate|not)\b[^,]* call(?:ed|ing)? me", _FLAGS)
_OUGHT: Final = re.compile(r"\b(?:one|some|another|two|three|few|many|all) of (?:my|our)\b", _FLAGS)
_AMONG: Final = re.compile(r"\bone of (?:my|our) (?:passions|hobbies|things)\b", _FLAGS)
_OF_A_WEEK: Final = re.compile(
    r"\b(?:this|next) (?:week|weekend|month|morning|afternoon|evening)\b|\b(?:today|tonight|tomorrow)\b", _FLAGS
)
_USED: Final = re.compile(
    r"\b(?:used to|once|back then|as a (?:kid|child|teen(?:ager)?)|growing up|formerly|for years)\b", _FLAGS
)
_NOTHING_DONE: Final = re.compile(
    r"(?:go|goes|do|does|play|visit|work|eat|run|call|meet|make|take) (?:there|here|out|(?:a )?few times"
    r"|once|twice|every|several"
    r"|about|[0-9]|most|too|so|each|all|in the|at night|on)\b.*",
    _FLAGS,
)
#: Relations in which a past tense alone tells of one occasion: "we loved the trip" is no "used to like".
_OCCASIONS: Final = frozenset(
    [
        "age",
        "plays",
        "likes",
        "does",
        "prefers",
        "wants",
        "has_friend",
        "has_child",
        "has_pet",
        "has_relative",
        "fears",
        "favorite",
        "habit",
    ]
)
_TOLD: Final = frozenset(["plays", "does", "habit", "has_child", "skilled_at"])
#: Relations whose objects begin with a verb.
_VERBAL: Final = frozenset(["wants", "plans", "prefers", "habit"])
_TASTES: Final = frozenset(["likes", "prefers", "favorite", "fears"])
_LIKINGS: Final = _TASTES - {"prefers", "fears"}
_LOOSE: Final = frozenset(["standing_rule", "habit", "plans", "wants"])
#: Relations that hold for longer than a week, or are nothing.
_LONG: Final = frozenset(
    ["likes", "diet", "habit", "does", "standing_rule", "smokes", "drinks_alcohol", "plays", "trait"]
)


_UNLIKE_CLAUSES: Final = _ANY_WORDS | _VERBAL | _OWN_WORDS


#: Whose objects may end with a span of time: "open all seven days".
_TIMED: Final = frozenset(["age", "habit", "has_condition", "time_zone", "opening_hours", "availability", "budget"])


def objection(said: Said) -> str | None:
    """Return why a statement is not kept, as a word that is counted; None: it is kept."""
    return next((reason for reason, holds in _OBJECTIONS if holds(said)), None)


def trimmed(text: str, relation: str | None) -> str:
    """Return a captured value without the time, the possessive and the odd quotation mark at its end."""
    text = text if relation in _TIMED else _SPAN.sub("", text)
    if relation in ("marital_status", "diet"):
        text = f"{text[:1].lower()}{text[1:]}"
    if relation is not None and relation.startswith("has_"):
        text = re.sub(r"'s$", "", text)
    return text.replace('"', "").strip() if text.count('"') % 2 else text


_SPAN: Final = re.compile(
    r",? (?:(?:(?:for|about|around|almost|over|like) )+(?:an?|a few|a couple(?: of)?|[0-9]+|one|two|three"
    r"|four|five|six|seven"
    r"|eight|nine|ten|several|many)|[0-9]+|two|three|four|five|six|seven|eight|nine|ten|several|many)"
    r" (?:days?|weeks?|months?|years?|hours?)$",
    _FLAGS,
)


def _jokes(said: Said) -> bool:
    """Whether it is said in jest, or only nearly so."""
    nearly = said.relation in _STANDING and _NEARLY.search(said.clause) is not None
    nearly = nearly or (said.phase == "ends" and _THREAT.search(said.clause) is not None)
    return nearly or _JOKE.search(said.clause) is not None


def _relative(said: Said) -> bool:
    """Whether the author's verb stands in a clause about a noun before it: "the canyon I found"."""
    for subject in _SUBJECT.finditer(said.clause):
        before = said.clause[: subject.end()]
        if said.object and said.clause.find(said.object, subject.end()) < 0:
            continue
        if _ASKED.search(before):
            return True
        if (found := _OF_A_NOUN.search(before)) and not _BEFORE_A_NOUN.search(before[: found.start() + 1]):
            return True
    return False


def _before_object(said: Said) -> str:
    """The clause up to what was captured of it; the whole clause if its words were changed."""
    place = said.clause.find(said.object)
    return said.clause[:place] if place > 0 else said.clause


def _dangling(said: Said) -> bool:
    """Whether the object has a pronoun before it names anything that it may stand for."""
    found = _PRONOUN.search(said.object)
    return found is not None and len(_NAMING.findall(said.object[: found.start()])) < 2


def _reacts(clause: str) -> bool:
    """Whether a liking is one of what the other just showed or said."""
    return _REACTION.search(clause) is not None or _TALK.search(clause) is not None


def _is_loose(said: Said) -> bool:
    """Whether what belongs to somebody may end with a clause of its own: "a parrot that swears"."""
    return said.relation in _ANY_WORDS or said.relation in ("has_pet", "has_child", "has_relative", "has_friend")


def _is_eaten(said: Said) -> bool:
    return said.relation == "allergic_to" and _EATEN.search(said.clause) is not None


def _occasion(said: Said) -> bool:
    return said.phase == "past" and said.relation in _OCCASIONS and not _USED.search(said.clause)


def _anothers(said: Said) -> bool:
    return (
        said.relation == "name" and bool(_ANOTHERS_NAME.search(said.clause)) and " my " not in f" {said.clause.lower()}"
    )


def _anothers_number(said: Said) -> bool:
    return said.relation in _CONTACTS and said.who is None and _ANOTHERS_NUMBER.search(said.clause) is not None


def _no_name(said: Said) -> bool:
    return (said.relation in ("name", "nickname") and _NO_NAME.fullmatch(said.object) is not None) or (
        said.relation == "nickname" and _NOT_CALLED.search(said.clause) is not None
    )


def _without_topic(said: Said) -> bool:
    return said.relation == "favorite" and (not said.topic or said.topic == said.object.lower())


def _was_at_school(said: Said) -> bool:
    """Whether a school that is not named only says when something was."""
    return said.relation == "attends" and said.phase == "past" and _AT_SCHOOL.fullmatch(said.object) is not None


def _passing(said: Said) -> bool:
    if said.relation not in _LONG or said.phase != "holds" or _WEEKS_SOBER.search(said.clause):
        return False
    return _OF_A_WEEK.search(said.clause) is not None


#: What is no standing rule, no habit and no plan, though it looks like one.
_IDIOMS: Final = re.compile(
    r"(?:never|don't) (?:give up|mind|forget|stop|say never|worry|be)\b.*"
    r"|(?:do )?have (?!.* (?:for (?:breakfast|lunch|dinner|tea)|on [a-z]+days|every [a-z]+)\b"
    r"|(?:[a-z]+ ){0,3}(?:meeting|class|therapy|lesson|practice|appointment|standup|call|training"
    r"|rehearsal|surgery|operation|exam|interview|scan|treatment|procedure|wedding|party|viva|audition)).*"
    r"|run (?:out|late|low|short|around)\b.*"
    r"|go (?:crazy|nuts|well|great|to bed(?! (?:at|by|before|around)))\b.*|take the bet\b.*",
    _FLAGS,
)
_ONCE: Final = re.compile(
    r"\b(?:have|has|'ve|ive) (?:[a-z]+ )?[a-z]+(?:ed|en|n) .*\bbefore\b|\bfinished [a-z]+ing\b|\bremember when\b",
    _FLAGS,
)


def _of_another(said: Said) -> bool:
    """Whether the object is of somebody whom the clause does not name before it."""
    before = said.clause.partition(said.object)[0]
    return _ANOTHERS.match(said.object) is not None and _SOMEBODY.search(before) is None


def _the_quality(said: Said) -> bool:
    """Whether a taste is for something that only the conversation names; what is liked no longer was named before."""
    is_taste = said.relation in _LIKINGS and _THE_QUALITY.fullmatch(said.object) is not None
    return is_taste and _NO_LONGER.search(said.clause) is None


#: In this order, the first that holds is counted.
_OBJECTIONS: Final[tuple[tuple[str, Callable[[Said], bool]], ...]] = (
    ("denied", lambda said: _DENIED.search(said.clause) is not None),
    ("supposed", lambda said: _SUPPOSED.search(_before_object(said)) is not None and not _is_eaten(said)),
    ("joke", lambda said: _jokes(said)),
    ("another", _anothers),
    ("another", _no_name),
    ("another", _anothers_number),
    ("leading", lambda said: said.relation not in _UNLIKE_CLAUSES and _LEADING.match(said.object) is not None),
    ("addressed", lambda said: said.relation not in _ANY_WORDS and _ADDRESSED.search(said.object) is not None),
    ("dangling", lambda said: said.relation not in _ANY_WORDS and _dangling(said)),
    ("relative", _relative),
    ("reaction", lambda said: said.relation == "likes" and _reacts(said.clause)),
    ("missing", lambda said: said.relation in ("wants", "plans", "does") and _BARE.fullmatch(said.object) is not None),
    ("occasion", _occasion),
    ("occasion", lambda said: said.relation in _TOLD and _ONCE.search(said.clause) is not None),
    ("idiom", lambda said: said.relation in _LOOSE and _IDIOMS.fullmatch(said.object) is not None),
    ("idiom", lambda said: said.relation in ("wants", "plans") and _VACUOUS.fullmatch(said.object) is not None),
    ("pointing", lambda said: not _is_loose(said) and _POINTING.search(said.object) is not None),
    ("pointing", lambda said: said.relation in _TASTES and _of_another(said)),
    ("pointing", _the_quality),
    ("occasion", lambda said: said.relation == "age" and _BEFORE_AGE.search(said.clause) is not None),
    ("occasion", lambda said: said.relation == "plans" and _WHENEVER.search(said.clause) is not None),
    ("occasion", _was_at_school),
    ("missing", _without_topic),
    ("among", lambda said: said.relation is None and _AMONG.search(said.clause) is not None),
    ("among", lambda said: said.relation == "favorite" and _OUGHT.search(said.clause) is not None),
    ("missing", lambda said: said.relation == "habit" and _NOTHING_DONE.fullmatch(said.object) is not None),
    ("passing", _passing),
)
