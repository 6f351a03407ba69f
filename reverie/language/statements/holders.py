"""The people of whom statements are true, if not their author."""

from __future__ import annotations

from reverie.language.english import statement_words
from reverie.language.objects import is_plural, read_object


def are_several(holder: str) -> bool:
    """Return whether a holder is several people: "my parents", "the kids"."""
    people, last = statement_words().people, holder.rstrip().rpartition(" ")[2].lower()
    if " " in holder.strip():
        return last in people.several or is_plural(holder)
    # "poppys" alone is a name without its apostrophe
    return last in people.several or (last.endswith("s") and last[:-1] in people.roles | people.shared)


def holder_key(holder: str | None) -> str | None:
    """Return the key of a holder, as the stage facts compares it: the name alone, if there is one.

    "my sister Ann" and "Ann" are `ann`; "my sister" is `sister`.
    """
    if not holder:
        return None
    words = read_object(holder).words
    roles = statement_words().people.roles
    places = [place for place, word in enumerate(words) if word in roles]
    named = words[places[-1] + 1 :] if places else words
    return " ".join(named or words) or None
