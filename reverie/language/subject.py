"""Words a statement as a sentence about its speaker: "Lives in Bergen" becomes "Melanie lives in Bergen"."""

from __future__ import annotations

import re
from typing import Final

from reverie.language.text import owned, plain_name

#: What a wording without a subject begins with, if it is a verb of the third person.
_VERB: Final = re.compile(
    r"(?:(?:No longer|Also|Only|Always|Never|Not|Often|Usually|Sometimes|Still) (?=[a-z])"
    r"|(?:Used to|Would|Can|Can't|Cannot|Could|Will|Isn't|Aren't|Doesn't|Didn't|Hasn't|Wasn't|Was|Had) "
    r"|(?-i:[A-Z])[a-z]*(?:[^su]s|ss?es|us?es) (?!(?:is|are|was|were|died|passed|has|have|and(?! [a-z]+s\b)|or|of)\b)"
    r"|(?:Is|Has|Does|Smokes|Started|Stopped|Quit|Got|Found|Bought|Adopted|Joined)\b)"
)
#: Nouns of which a wording says what they are: "Favorite color is blue".
_NOUN: Final = re.compile(
    r"(?:Favorite|Name|Nickname|Pronouns|Birthday|Time zone|Phone number|Email|Address|Manager|Partner|Husband|Wife"
    r"|Boyfriend|Girlfriend|Fianc[eé]e?|Spouse|Budget|Availability|Opening hours|Job|Major|Hobby|Hobbies|Hometown|Hair"
    r"|Eyes|Car|House|Flat|Height|Team|Company|Business|Shop|Band|Religion|Goal|Dream|Specialty|Last day|Default"
    r"|[A-Z][a-z]+ budget|Dog|Cat)\b"
)
_THEIRS: Final = re.compile(r"\b[Tt]heir\b(?! own\b)")


def sentence(content: str, speaker: str | None, subject_id: str) -> str:
    """Return a statement's text as a sentence about its speaker, if that is not the subject."""
    if not speaker or speaker.casefold() == subject_id.casefold():
        return content
    name = plain_name(speaker)
    if content.startswith("Their "):
        return f"{possessive(name)} {content[6:]}"
    lowered = f"{content[:1].lower()}{content[1:]}"
    if _NOUN.match(content):
        return f"{possessive(name)} {lowered}"
    if _VERB.match(content):
        return f"{name} {lowered}"
    if " " in content and _THEIRS.search(content):
        return _THEIRS.sub(possessive(name), content, count=1)
    return owned(content, speaker, subject_id)


def possessive(name: str) -> str:
    """Return a name with its ending of possession: "Melanie's", "James'"."""
    return f"{name}'" if name.endswith("s") else f"{name}'s"
