"""Words a statement as a sentence about its speaker: "Lives in Bergen" becomes "Melanie lives in Bergen"."""

from __future__ import annotations

from typing import Final

from reverie.language.pack import language_table
from reverie.language.text import owned, plain_name

_PACK = language_table("subject")

#: A verb in the third person at the start of a wording without a subject.
_VERB: Final = _PACK.pattern("verb")
#: A noun at the start of a wording that is its subject: "Favorite color is blue".
_NOUN: Final = _PACK.pattern("noun")
_THEIRS: Final = _PACK.pattern("theirs")
_THEIRS_FIRST: Final = _PACK.text("theirs_first")


def sentence(content: str, speaker: str | None, subject_id: str) -> str:
    """Return a statement's text as a sentence about its speaker, unless the speaker is the subject."""
    if not speaker or speaker.casefold() == subject_id.casefold():
        return content
    name = plain_name(speaker)
    if content.startswith(_THEIRS_FIRST):
        return f"{possessive(name)} {content.removeprefix(_THEIRS_FIRST)}"
    lowered = f"{content[:1].lower()}{content[1:]}"
    if _NOUN.match(content):
        return f"{possessive(name)} {lowered}"
    if _VERB.match(content):
        return f"{name} {lowered}"
    if " " in content and _THEIRS.search(content):
        return _THEIRS.sub(possessive(name), content, count=1)
    return owned(content, speaker, subject_id)


def possessive(name: str) -> str:
    """Return the possessive form of a name: "Melanie's", "James'"."""
    return f"{name}'" if name.endswith("s") else f"{name}'s"
