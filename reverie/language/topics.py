"""Identifies what a topic or object refers to in any wording: "workshop rate", "the rate for workshops"; pure."""

from __future__ import annotations

from functools import cache

from reverie.language.english import statement_words
from reverie.language.objects import read_object
from reverie.language.stemming import stems_of
from reverie.language.text import cached_if_short


@cached_if_short(16_384)
def topic_words(text: str) -> frozenset[str]:
    """Return the stems of the words that tell which topic is meant; empty for "the deadline", "our number".

    Synonyms have one stem: "fee", "rate".
    """
    folds = _folds()
    words = (folds.get(word, word) for word in read_object(text.lower()).words)
    return frozenset(stems_of(word for word in words if word not in statement_words().topics.empty))


@cached_if_short(16_384)
def head_words(text: str) -> frozenset[str]:
    """Return the stem of a topic's head noun: rate in "the workshop rate" and "rate for workshops"."""
    before = statement_words().topics.before
    tokens = text.lower().split()
    end = next((place for place, word in enumerate(tokens) if place and word in before), len(tokens))
    return topic_words(tokens[end - 1]) if tokens else frozenset()


@cached_if_short(16_384)
def unit_words(text: str) -> frozenset[str]:
    """Return the stems of the words of a figure that are not numbers: mechanic in "three mechanics"."""
    return topic_words(" ".join(word for word in read_object(text.lower()).words if not word[:1].isdigit()))


@cached_if_short(16_384)
def telling_words(text: str) -> frozenset[str]:
    """Return the stems of the words that may identify an object; empty for "that", "the whole thing"."""
    vague = statement_words().topics.vague
    return frozenset(stems_of(word for word in read_object(text.lower()).words if word not in vague))


def is_shared_role(topic: str) -> bool:
    """Return whether several people may have a role at once: "client", "supplier"; "flour supplier" means one."""
    words = read_object(topic.lower()).words
    return not words or set(words) <= _shared_roles()


@cache
def _folds() -> dict[str, str]:
    groups = statement_words().topics.same
    return {word: group[0] for group in groups for each in group for word in (each, *read_object(each).words)}


@cache
def _shared_roles() -> frozenset[str]:
    roles = statement_words().people.shared
    return roles | {word for role in roles for word in read_object(role).words}
