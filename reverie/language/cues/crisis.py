"""Language of a crisis in a message, and whom its writer can turn to (Contact 4.2, spec A6).

Found by the patterns of `crisis.toml`, which favour recall, and, where the caller has the message's vector, by a linear
classifier; in under a millisecond, so that the answer to the same request can carry the help of `helplines.toml` or of
the policy. Only suicide and self-harm are looked for.
"""

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy.typing as npt

from reverie.language.cues import linear, wording
from reverie.policy import live
from reverie.policy.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Help:
    """What to say and whom to name, at once."""

    message: str
    #: those of the country, then those that serve everywhere
    helplines: tuple[live.Helpline, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crisis:
    """A message that sounds like a crisis."""

    #: names of the signs found, in the order of `crisis.toml`; `policy` for a phrase of the policy, `vector` for the
    #: classifier. Never text.
    signs: tuple[str, ...]
    #: whether a person is to look at it
    review: bool
    help: Help


class _Hyperbole(Table):
    name: str
    pattern: str


class _Sign(Table):
    name: str
    #: literals, one of which every match contains; the pattern is tried only on texts that have one
    cues: tuple[str, ...]
    pattern: str
    #: whether a denial right before it ("I don't want to die") takes it away
    negatable: bool = False
    #: whether somebody else may be its subject ("people want to die"), and then it does not count
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
    table = _Signs.model_validate(tomllib.loads(files(__package__).joinpath("crisis.toml").read_text("utf-8")))

    def expanded(pattern: str) -> re.Pattern[str]:
        for word, alternatives in table.words.items():
            pattern = pattern.replace(f"<{word}>", f"(?:{'|'.join(alternatives)})")
        return re.compile(pattern)

    return _Compiled(
        signs=tuple((sign, expanded(sign.pattern)) for sign in table.signs),
        hyperbole=expanded("|".join(f"(?:{one.pattern})" for one in table.hyperbole)),
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
    """The signs of a crisis in a message, with help for its writer; None where there is none or the policy looks not.

    `signs` are those of `signs_of`, where they are known already. `vector` is the unit vector of the whole text from
    the embedder whose key is `embedding_model`: without one, or from a model that the classifier was not trained on, a
    third of what is only hinted at is missed. `country` is an ISO 3166 code and `language` a tag like `pt-BR`, where
    the caller knows them. Pure.
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
    """What to say in a crisis: the policy's own words and helplines where it has some, else the shipped ones."""
    shipped = _helplines()
    message = crisis.message or shipped.messages.get((language or "en")[:2].lower(), shipped.messages["en"])
    here = country.upper() if country else None
    lines = [line for line in crisis.helplines if here and line.country == here]
    lines = lines or [line for line in shipped.helplines if here and line.country == here]
    everywhere = [line for line in crisis.helplines if line.country is None]
    everywhere = everywhere or [line for line in shipped.helplines if line.country is None]
    return Help(message=message, helplines=(*lines, *everywhere))


def signs_of(text: str, phrases: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The names of the signs in a text, in the order of the table."""
    by = _compiled()
    plain = normalized(text)
    tried = [(sign, pattern) for sign, pattern in by.signs if any(cue in plain for cue in sign.cues)]
    # most messages hold no sign at all, and then nothing has to be taken out
    tried = [(sign, pattern) for sign, pattern in tried if pattern.search(plain)]
    found: list[str] = []
    if tried:
        read = by.hyperbole.sub(" _ ", _without_quotes(plain, by))
        sentences = [one.strip() for one in _SENTENCE.split(read) if one.strip()]
        found = [sign.name for sign, pattern in tried if any(_told(one, sign, pattern, by) for one in sentences)]
    own = _phrases(phrases)
    if own and own.search(plain):
        found.append("policy")
    return tuple(found)


def normalized(text: str) -> str:
    """The text as the patterns read it: lower case, no apostrophes, disguised or stretched letters put right."""
    plain = _INVISIBLE.sub("", wording.plain(unicodedata.normalize("NFKC", text))).lower()
    plain = _SINGLE.sub(r'"\1"', plain).replace("'", "")
    plain = _MIXED.sub(lambda mark: mark[0].translate(_LETTERS), plain)
    plain = _SPACED.sub(lambda letters: letters[0].replace(" ", ""), plain)
    plain = _STRETCHED.sub(r"\1", plain)
    return _SPACES.sub(" ", plain).strip()


def _without_quotes(text: str, by: _Compiled) -> str:
    """The text without what somebody else is quoted to say."""

    def kept(quote: re.Match[str]) -> str:
        before = text[: quote.start()]
        others = by.quoted_by_others.search(before) and not by.quoted_by_writer.search(before)
        return " _ " if others else quote[0].replace('"', " ")

    return _QUOTED.sub(kept, text)


def _told(sentence: str, sign: _Sign, pattern: re.Pattern[str], by: _Compiled) -> bool:
    """Whether a sentence has the sign and neither denies it nor says it of others."""
    for found in pattern.finditer(sentence):
        before = sentence[: found.start()]
        if sign.negatable and (by.denied.search(before) or by.denied_inside.search(found[0])):
            continue
        if by.speaker.search(before) or by.speaker.match(found[0] + " "):
            return True
        if not (sign.of_anyone and by.others.search(before)) and not by.fiction.search(sentence):
            return True
    return False
