"""Finds the numbers of a text with their units, for patterns such as "outperforms by 2.8x", and writes numbers."""

import re
from math import floor, log10
from typing import NamedTuple

from reverie.language.pack import language_table

_PACK = language_table("quantities")

_NUMBER = (
    r"(?P<number>(?:[0-9]{1,3}(?:,[0-9]{3})+|(?<![:/])[0-9]{1,3}(?:[ \u00a0\u202f][0-9]{3})+(?![0-9])|[0-9]+)"
    r"(?:\.[0-9]+)?)"
)
#: Thousands after points, as much of Europe and South America write them; one group alone may be decimals ("1.250").
_POINTED = r"(?P<pointed>[1-9][0-9]{0,2}(?:\.[0-9]{3})+(?:,[0-9]{1,2})?(?![0-9]|[.,][0-9]))"
_ONE_GROUP = re.compile(r"[0-9]+\.[0-9]+")
_QUANTITY = re.compile(
    rf"(?<![\w.,-])(?P<currency>[$€£₹])? ?(?:{_POINTED}|{_NUMBER})(?P<scale>[kKmM](?![\w]))?"
    r"(?:(?P<sign>[%x×])(?![\w])|(?P<glued>[a-zA-Z]{1,3})(?![\w])"
    rf"|[ -]?{_PACK.text('between')}(?P<unit>[a-zA-Z]{{2,}}))?"
)
#: Signs between thousands. After a plain space, only digits that begin with 0 are surely thousands: "day 5 300 views".
_THOUSANDS, _TWO_NUMBERS = re.compile(r"[, \u00a0\u202f]"), re.compile(r"[0-9]+(?: [1-9][0-9]{2})+(?:\.[0-9]+)?")
_DIGIT = re.compile(r"[0-9]")
_BEFORE = re.compile(r"(?P<metric>[a-zA-Z]{3,}) ?(?:=|:|→|->) ?$")
_SCALES = {"k": 1e3, "m": 1e6}
_CURRENCIES = {"$": "usd", "€": "eur", "£": "gbp", "₹": "inr"}
_SIGNS = {"%": "percent", "x": "times", "×": "times"}
#: Words after a number that make it part of a date or a time.
#: Words after a number that are not units: prepositions, conjunctions and the like.
_DATES, _NO_UNITS = _PACK.word_set("dated"), _PACK.word_set("joints")
_MONTH_BEFORE = _PACK.pattern("month_before")


class Quantity(NamedTuple):
    """A number with its unit or metric in lower case, as written ("views"); "" without one."""

    value: float
    unit: str


def has_digit(text: str) -> bool:
    """Return whether a text has a digit, without which it has no quantity."""
    return _DIGIT.search(text) is not None


def quantities(text: str) -> list[Quantity]:
    """Return the quantities of a text: "340 views" is (340, "views"), "2.8x" (2.8, "times"), "$1.5k" (1500, "usd").

    Parts of dates and times do not count, nor does "5 300 views", which may be one number or two, nor "1.250 views",
    which may be thousands or decimals; "1.200.000" is 1,200,000. A number like 1999 or 2024 without a unit is taken for
    a year.
    """
    result = list[Quantity]()
    if not has_digit(text):  # most texts
        return result
    for match in _QUANTITY.finditer(text):
        word = (match["glued"] or match["unit"] or "").lower()
        if (
            word in _DATES
            or _MONTH_BEFORE.search(text[: match.start()])
            or re.match(r"[:/][0-9]", text[match.end("pointed" if match["pointed"] else "number") :])
            or _TWO_NUMBERS.fullmatch(match["number"] or "")
            or (_ONE_GROUP.fullmatch(match["pointed"] or "") and not (match["currency"] or match["sign"]))
            or ((match["pointed"] or "").count(".") > 2 and not word)  # an address
        ):
            continue
        metric = _BEFORE.search(text[: match.start()])
        unit = (
            _CURRENCIES.get(match["currency"] or "")
            or _SIGNS.get(match["sign"] or "")
            or (word if word not in _NO_UNITS else "")
            or (metric["metric"].lower() if metric else "")
        )
        value = _value(match) * _SCALES.get((match["scale"] or "").lower(), 1.0)
        if not unit and re.fullmatch(r"(?:19|20)[0-9]{2}", match["number"] or ""):
            continue
        result.append(Quantity(value, unit))
    return result


def _value(match: re.Match[str]) -> float:
    if (pointed := match["pointed"]) and not _ONE_GROUP.fullmatch(pointed):
        return float(pointed.replace(".", "").replace(",", "."))
    return float(_THOUSANDS.sub("", pointed or match["number"]))


def written_number(number: float) -> str:
    """Return a number in three significant digits, halves up: 103 for 102.5, 12.5, 0.25, 0.00125."""
    decimals = max(2 - floor(log10(abs(number))), 0) if number else 0
    scale = 10**decimals
    shown = int(abs(number) * scale + 0.5 + 1e-9) / scale
    text = f"{shown:.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if decimals else text
    return f"-{text}" if number < 0 and shown else text
