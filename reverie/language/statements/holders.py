"""The people of whom statements are true, if not their author."""

from __future__ import annotations

import re

from reverie.language.english import statement_words
from reverie.language.objects import is_plural, read_object


def are_several(holder: str) -> bool:
    """Return whether a holder is several people: "my parents", "the kids"."""
    people, last = statement_words().people, holder.rstrip().rpartition(" ")[2].lower()
    if " " in holder.strip():
        return last in people.several or is_plural(holder)
    # "poppys" alone is a name without its apostrophe
    return last in people.several or (last.endswith("s") and last[:-1] in people.roles | people.shared)


def is_thing(holder: str | None) -> bool:
    """Return whether a holder names nobody: "our shop", but not "our Kasia", "my sister" or "she"."""
    thing = read_object(holder or "")
    is_named = thing.is_proper or not thing.words
    return not is_named and not are_several(holder or "") and statement_words().people.roles.isdisjoint(thing.words)


def is_pronoun(said: str) -> bool:
    """Return whether words name nobody without what was said before: "her", "it"."""
    return said.lower() in statement_words().people.pronouns


def holder_key(holder: str | None) -> str | None:
    """Return the key of a holder, as the stage facts compares it: the name alone, if there is one.

    "my sister Ann" and "Ann" are `ann`; "my sister" is `sister`.
    """
    if not holder:
        return None
    people = statement_words().people
    written, joined = people.joined
    words, roles = read_object(re.sub(written, joined, holder, flags=re.IGNORECASE)).words, people.roles
    places = [place for place, word in enumerate(words) if word in roles]
    named = words[places[-1] + 1 :] if places else words
    return " ".join(named or words) or None
