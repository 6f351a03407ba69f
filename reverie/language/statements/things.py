"""Finds what an event is about: nouns that events may share ("our recipe post got 340 views": post, view); pure."""

from __future__ import annotations

import re

from reverie.language.english import statement_words
from reverie.language.objects import read_object
from reverie.language.statements.verbs import BE, base_form, is_gerund

#: Most nouns of one event that others may share.
_MOST = 4
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+(?:[.,:]\d+)*[^\W\d_]*|[.,;:!?()]")


def things(clause: str) -> list[str]:
    """Return the nouns, in the singular and in order: the last two words of each run of words that are not verbs.

    A run begins with the clause, after "our", "the" and the like, or after a number.
    """
    words = statement_words().things
    found: dict[str, None] = {}
    run: list[str] = []
    is_open = True
    for token in [*_TOKEN.findall(clause), "."]:
        plain = token.lower().replace("’", "'").removesuffix("'s")
        is_number = plain[:1].isdigit()
        is_stop = plain.partition("'")[0] in words.stops  # "we're" too
        if is_number or plain in words.before or is_stop or not plain[:1].isalpha() or _is_verb(plain):
            found |= {noun: None for word in run[-2:] if (noun := _noun(word))}
            run, is_open = [], is_number or plain in words.before
        elif is_open:
            run.append(plain)
    return list(found)[:_MOST]


def _noun(word: str) -> str:
    read = read_object(word).words
    return read[0] if len(read) == 1 and read[0] not in statement_words().things.empty and len(read[0]) > 2 else ""


def _is_verb(word: str) -> bool:
    base, tense = base_form(word)
    return tense in ("past", "perfect") or (base != word and is_gerund(word)) or base == BE
