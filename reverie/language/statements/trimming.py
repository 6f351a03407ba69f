"""Where the object of a statement ends, and whether it is one."""

from __future__ import annotations

import re
from typing import Final, Literal

from reverie.language.cues import wording

Objects = Literal["name", "place", "thing", "deed", "text"]

_NAME: Final = re.compile(
    r"(?:(?:the|a|an) )?(?-i:[A-Z0-9À-Þ][\w.&'’+/-]*)(?: (?:(?:of|the|de|la|van|von|and"
    r"|&) )?(?-i:[A-Z0-9À-Þ][\w.&'’+/-]*))*"
    r"|(?:the |an? |my |our |some )?[\w.&'’+/-]+(?: [\w.&'’+/-]+){0,5}",
    re.IGNORECASE,
)
#: When something is done: part of a deed, and of no other object.
_WHEN: Final = (
    r"last|next|this (?:week|month|year|morning|fall|spring|summer|winter|autumn|semester|weekend)|yesterday|today"
    r"|tonight|tomorrow|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|in (?:january|february|march|april|may|june|july"
    r"|august|september|october|november|december|[0-9]{4}|the (?:spring|summer|fall|autumn|winter))"
)
#: What follows an object and is no part of it.
_AFTER: Final = (
    r"now|right now|these days|at the moment|currently|nowadays|any ?more|any longer|going on|ago|since|until"
    r"|till|for (?:about |almost |over |nearly |like |more than |the (?:last|past) )?"
    r"(?:[0-9]+|an?(?= (?:[a-z]+ )?"
    r"(?:while|bit|day|week|fortnight|month|year|decade|time|lifetime|second|hour)s?\b)"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|twelve|several|some|many|most|a few|the|years"
    r"|months|ages)\b|due to|as (?:i|they|it|we|he|she|my)|because|cause|cuz|so|but|and (?:i|we|it|it's|he|she"
    r"|they|my|our|the|that|honestly|also|now|then|never|always|started|have|am|is|was|will|love|hate|beats?"
    r"|plays?|already|opened|got|bought|sold|moved|left|quit|went|took|had|made|joined|became|changed|switched"
    r"|adopted)|although|though|even though|while|when|whenever|if|unless"
    r"|which|who|who's|whose|where|just|lol|haha|btw|tbh|rn|atm|imo|too|as well|again|after all|again"
    r"|actually|honestly|i (?:am|was|think|guess|have|know|mean)|it's|they're"
    r"|as of|from (?:january|february|march|april|may|june|july|august|september|october|november|december|[0-9])"
    r"|completely|entirely|a lot(?! of)|so much|very much|more than anything|the most|the best|like crazy|to death"
    r"|back (?:in|when)|before|after|already|please|to (?:save|help|get|be|pay|make|write|relax)|at all|over here"
    r"|over there|from now on|for good|you know|or something|at first|by (?:now|then)"
)
_CUT, _DEED_CUT = (
    re.compile(rf",? (?:{after})(?= |$|[,.;:!?]).*| ?[;:(…].*| [-–—]+ .*|[.!?]+(?: .*|$)", re.IGNORECASE | re.DOTALL)
    for after in (f"{_WHEN}|{_AFTER}", _AFTER)
)
_COMMA: Final = re.compile(r", (?!(?-i:[A-ZÀ-Þ])[\w.'-]+(?:$|,)).*", re.DOTALL)
_LIST_COMMA: Final = re.compile(
    r", (?:i|i'm|it's|it|he|she|he's|she's|they|we|you|so|but|and (?:i|we|it|he|she|they)|no|not|like|just|even"
    r"|best|thanks|never|always|have|in the|on the|with|both|which|who|really|"
    r"weirdly|send|one|population|second|first|third|what|how|please|dont|don't|diagnosed|probably|maybe|honestly"
    r"|especially|sadly|unfortunately|luckily|thankfully|obviously|apparently|actually|old|[0-9]|kids|tastes|pray|any"
    r"|that|the|this|there|[a-z]+ (?:is|are|was|were|has|have|won|won't"
    r"|can|makes?)|(?:[a-z]+ ){1,3}(?:especially|in particular|above all|most of all))\b.*",
    re.IGNORECASE | re.DOTALL,
)
#: With whom is no part of where.
_COMPANY: Final = re.compile(r" (?:together )?with (?:my|our)\b.*", re.IGNORECASE | re.DOTALL)
_BARE_END: Final = re.compile(
    r"(?: |^)(?:of|to|in|on|at|with|for|about|from|by|into|and|or|the|a|an|my|our|their|his|her|its|very|so|too|as"
    r"|than|like|is|are|was|be|been"
    r"|also|more|some|any|not|no|that|who|which)$",
    re.IGNORECASE,
)
_DANGLING: Final = re.compile(
    r"(?:(?-i:[Ii]t)|its|it's|that|this|them|they|these|those|him|her|he|she|one|ones|there|here|you|me"
    r"|(?-i:us)|everything"
    r"|anything|nothing|something"
    r"|everyone|anyone|someone|both|all|so|such|same|stuff|things?|what|how|when|why|where|which|who|some|any|many"
    r"|much|more|most|others?"
    r"|another|each other|myself|yourself|i|we|then|now|yes|no|not)(?: (?:too|all|now|so much|a lot|both|there"
    r"|here|again|one|way|thing|things|guys|kind|kinds|stuff))?"
    r"|(?:(?-i:[Ii]t)|that|this|them|these|those|him|you|how|what|when|why|where|that's|it's|if|seeing"
    r"|hearing(?! aids?\b)) .*"
    r"|the (?:idea|thought|fact|way|part|look|sound|feeling|vibe)(?! of (?!it\b|that\b|them\b|this\b))\b.*"
    r"|.* (?:(?-i:[Ii]t)|them|that|this|those|these|there|him|her|you|(?:this|that|these|those|the) ones?|some|ours"
    r"|theirs|yours|your|u)",
    re.IGNORECASE | re.DOTALL,
)
#: A pronoun that may stand for a thing named right before it: "anything with logos on it".
_RESOLVED: Final = re.compile(
    r"(?!(?:it|that|this|them|these|those)\b)(?:\S+ ){3,}(?:on|in|with|of) (?:it|them)", re.IGNORECASE
)
#: "a dog, his name is Rex" is a dog named Rex.
_NAMED: Final = re.compile(
    r",? (?:(?:whose|and (?:his|her|its|their)|his|her|its|their) names? (?:is|are)|(?:who|that) (?:is"
    r"|are) (?:called|named)|called)"
    r" (?=(?-i:[A-ZÀ-Þ]))",
    re.IGNORECASE,
)
_MOST_WORDS: Final = 24


def cleaned(captured: str, objects: Objects) -> str:
    """Return an object without what follows it: "Bergen for about three years now" gives "Bergen"."""
    text = _NAMED.sub(" named ", captured.strip(wording.EDGES))
    if objects == "text":
        return wording.value(text)
    cut = (_DEED_CUT if objects == "deed" else _CUT).sub("", text, count=1)
    cut = (_LIST_COMMA if objects in ("thing", "deed") else _COMMA).sub("", cut, count=1)
    if objects == "place":
        cut = _COMPANY.sub("", cut, count=1)
    if objects == "name" and (found := _NAME.match(cut)):
        cut = found[0]
    return wording.value(cut)


def refusal(text: str) -> str | None:
    """Return why a text is no object: `missing`, `dangling`, `cut_off` or `long`; None: it is one."""
    if not text:
        return "missing"
    if _DANGLING.fullmatch(text) and not _RESOLVED.fullmatch(text):
        return "dangling"
    if _BARE_END.search(text):
        return "cut_off"
    return "long" if text.count(" ") >= _MOST_WORDS else None
