"""Detects signs of a crisis in a message, and names helplines for its author.

Detection covers suicide and self-harm only. It uses the patterns of `crisis.toml`, which favour recall over precision,
and a linear classifier if the message's vector is known. It takes less than a millisecond, so the response to the same
request can carry the help of `helplines.toml` or of the policy.

Source: docs/design-sources.md, Contact 4.2.
"""

import re
import tomllib
import unicodedata
from collections.abc import Container
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy.typing as npt

from reverie.language.cues import linear, wording
from reverie.language.pack import read_table
from reverie.policy import live
from reverie.policy.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Help:
    """The message and helplines to show at once."""

    message: str
    #: those of the country, then the international ones
    helplines: tuple[live.Helpline, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crisis:
    """Signs of a crisis in a message."""

    #: names of the signs, in the order of `crisis.toml`; `policy` for a phrase of the policy, `vector` for the
    #: classifier; never user text
    signs: tuple[str, ...]
    #: whether a person should review the message
    review: bool
    help: Help


class _Hyperbole(Table):
    name: str
    pattern: str


class _Sign(Table):
    name: str
    #: literals; every match contains one, so the pattern is tried only on texts with one
    cues: tuple[str, ...]
    pattern: str
    #: whether a denial right before it ("I don't want to die") cancels it
    negatable: bool = False
    #: whether it does not count with another subject ("people want to die")
    of_anyone: bool = False


class _Signs(Table):
    """`crisis.toml`."""

    words: dict[str, tuple[str, ...]]
    hyperbole: tuple[_Hyperbole, ...]
    quoted: dict[str, str]
    fiction: dict[str, str]
    denied: dict[str, str]
    signs: tuple[_Sign, ...]


class _Helplines(Table):
    """`helplines.toml`."""

    messages: dict[str, str]
    helplines: tuple[live.Helpline, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compiled:
    signs: tuple[tuple[_Sign, re.Pattern[str]], ...]
    #: The cues of all signs, each once.
    cues: tuple[str, ...]
    hyperbole: re.Pattern[str]
    quoted_by_others: re.Pattern[str]
    quoted_by_writer: re.Pattern[str]
    fiction: re.Pattern[str]
    others: re.Pattern[str]
    speaker: re.Pattern[str]
    denied: re.Pattern[str]
    denied_inside: re.Pattern[str]


@cache
def _compiled() -> _Compiled:
    table = _Signs.model_validate(read_table("crisis"))

    def expanded(pattern: str) -> re.Pattern[str]:
        for word, alternatives in table.words.items():
            pattern = pattern.replace(f"<{word}>", f"(?:{'|'.join(alternatives)})")
        return re.compile(pattern)

    return _Compiled(
        signs=tuple((sign, expanded(sign.pattern)) for sign in table.signs),
        cues=tuple(dict.fromkeys(cue for sign in table.signs for cue in sign.cues)),
        hyperbole=expanded("|".join(f"(?:{phrase.pattern})" for phrase in table.hyperbole)),
        quoted_by_others=expanded(table.quoted["by_others"]),
        quoted_by_writer=expanded(table.quoted["by_writer"]),
        fiction=expanded(table.fiction["marks"]),
        others=expanded(table.fiction["others"]),
        speaker=expanded(table.fiction["speaker"]),
        denied=expanded(table.denied["before"]),
        denied_inside=expanded(table.denied["inside"]),
    )


@cache
def _helplines() -> _Helplines:
    return _Helplines.model_validate(tomllib.loads(files(__package__).joinpath("helplines.toml").read_text("utf-8")))


@cache
def _phrases(patterns: tuple[str, ...]) -> re.Pattern[str] | None:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns)) if patterns else None


_INVISIBLE: Final = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
_SPACED: Final = re.compile(r"\b(?:[a-z] ){3,}[a-z]\b")
_STRETCHED: Final = re.compile(r"([a-z])\1{2,}")
_MIXED: Final = re.compile(r"(?<=[a-z])[1!|03@$45](?=[a-z])")
_LETTERS: Final = str.maketrans("1!|03@$45", "iiioeasas")
_SPACES: Final = re.compile(r"[ \t]+")
_SINGLE: Final = re.compile(r"(?<![a-z0-9])'((?:[^'\n]|(?<=[a-z])'(?=[a-z])){3,200})'(?![a-z0-9])")
_QUOTED: Final = re.compile(r'"[^"\n]{2,200}"')
_SENTENCE: Final = re.compile(r"[.!?\n]+")


def find_crisis(
    text: str,
    *,
    crisis: live.CrisisPolicy,
    signs: tuple[str, ...] | None = None,
    vector: npt.ArrayLike | None = None,
    embedding_model: str | None = None,
    country: str | None = None,
    language: str | None = None,
) -> Crisis | None:
    """Return the signs of a crisis in a message, with help for its author; None without signs, or with detection off.

    Pure. Without a usable vector, a third of the crises that it would find is missed, mostly hints.

    Args:
        text: The message.
        crisis: The heading `[crisis]` of the policy.
        signs: The result of `signs_of`, if it is known already.
        vector: Unit vector of the whole text.
        embedding_model: Key of the model of `vector`. The classifier needs the one that it was trained on.
        country: ISO 3166 code, if known.
        language: Language tag such as `pt-BR`, if known.
    """
    if not crisis.detect:
        return None
    signs = signs_of(text, crisis.phrases) if signs is None else signs
    odds = linear.load("crisis_weights.json").probabilities(vector, embedding_model)
    if odds is not None and odds[1] >= crisis.vector_probability:
        signs = (*signs, "vector")
    if not signs:
        return None
    return Crisis(signs=signs, review=crisis.review, help=help_for(crisis, country=country, language=language))


def help_for(crisis: live.CrisisPolicy, *, country: str | None = None, language: str | None = None) -> Help:
    """Return the help for a crisis: the policy's message and helplines, or else the shipped ones."""
    shipped = _helplines()
    message = crisis.message or shipped.messages.get((language or "en")[:2].lower(), shipped.messages["en"])
    here = country.upper() if country else None
    lines = [line for line in crisis.helplines if here and line.country == here]
    lines = lines or [line for line in shipped.helplines if here and line.country == here]
    everywhere = [line for line in crisis.helplines if line.country is None]
    everywhere = everywhere or [line for line in shipped.helplines if line.country is None]
    return Help(message=message, helplines=(*lines, *everywhere))


def signs_of(text: str, phrases: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the names of the signs in a text, in the order of the table."""
    compiled = _compiled()
    own, is_own = _phrases(phrases), False
    found: dict[str, bool] = {}
    for plain in _forms(text):
        # a sign that the first form denies is not looked for in the second
        found |= _signs_in(plain, compiled, found)
        is_own = is_own or bool(own and own.search(plain))
    return (*(sign.name for sign, _ in compiled.signs if found.get(sign.name)), *(("policy",) if is_own else ()))


def _signs_in(plain: str, compiled: _Compiled, known: Container[str]) -> dict[str, bool]:
    """Return the signs whose patterns occur in a text, without the known ones, and whether they count."""
    # signs share cues, and most messages have none
    cues = {cue for cue in compiled.cues if cue in plain}
    if not cues:
        return {}
    tried = [
        (sign, pattern) for sign, pattern in compiled.signs if sign.name not in known and not cues.isdisjoint(sign.cues)
    ]
    # few have a sign; without one, quotations need not be removed
    tried = [(sign, pattern) for sign, pattern in tried if pattern.search(plain)]
    if not tried:
        return {}
    literal = compiled.hyperbole.sub(" _ ", _without_quotes(plain, compiled))
    sentences = [sentence.strip() for sentence in _SENTENCE.split(literal) if sentence.strip()]
    return {sign.name: any(_has(text, sign, pattern, compiled) for text in sentences) for sign, pattern in tried}


def normalized(text: str) -> str:
    """Return the text for the patterns: lower case, no apostrophes, disguised or repeated letters restored."""
    return _forms(text)[0]


def _forms(text: str) -> tuple[str, ...]:
    """Return the text for the patterns, and once more with repeated letters as two ("alllll"), if it has any."""
    plain = _INVISIBLE.sub("", wording.plain(unicodedata.normalize("NFKC", text))).lower()
    plain = _SINGLE.sub(r'"\1"', plain).replace("'", "")
    plain = _MIXED.sub(lambda mark: mark[0].translate(_LETTERS), plain)
    plain = _SPACED.sub(lambda letters: letters[0].replace(" ", ""), plain)
    plain = _SPACES.sub(" ", plain).strip()
    once = _STRETCHED.sub(r"\1", plain)
    return (once,) if once == plain else (once, _STRETCHED.sub(r"\1\1", plain))


def _without_quotes(text: str, compiled: _Compiled) -> str:
    """Return the text without quotations of others."""

    def kept(quote: re.Match[str]) -> str:
        before = text[: quote.start()]
        others = compiled.quoted_by_others.search(before) and not compiled.quoted_by_writer.search(before)
        return " _ " if others else quote[0].replace('"', " ")

    return _QUOTED.sub(kept, text)


def _has(sentence: str, sign: _Sign, pattern: re.Pattern[str], compiled: _Compiled) -> bool:
    """Return whether a sentence has the sign, without denying it and without speaking of others."""
    for match in pattern.finditer(sentence):
        before = sentence[: match.start()]
        if sign.negatable and (compiled.denied.search(before) or compiled.denied_inside.search(match[0])):
            continue
        if compiled.speaker.search(before) or compiled.speaker.match(match[0] + " "):
            return True
        if not (sign.of_anyone and compiled.others.search(before)) and not compiled.fiction.search(sentence):
            return True
    return False
