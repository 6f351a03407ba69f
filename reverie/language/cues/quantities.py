"""Finds the numbers of a text with their units, for patterns such as "outperforms by 2.8x"."""

import re
from typing import NamedTuple

_NUMBER = r"(?P<number>[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?)"
_QUANTITY = re.compile(
    rf"(?<![\w.,-])(?P<currency>[$€£₹])? ?{_NUMBER}(?P<scale>[kKmM](?![\w]))?"
    r"(?:(?P<sign>[%x×])(?![\w])|(?P<glued>[a-zA-Z]{1,3})(?![\w])"
    r"|[ -]?(?:more |fewer |less |new |extra |additional )?(?P<unit>[a-zA-Z]{2,}))?"
)
_BEFORE = re.compile(r"(?P<metric>[a-zA-Z]{3,}) ?(?:=|:|→|->) ?$")
_SCALES = {"k": 1e3, "m": 1e6}
_CURRENCIES = {"$": "usd", "€": "eur", "£": "gbp", "₹": "inr"}
_SIGNS = {"%": "percent", "x": "times", "×": "times"}
#: Words after a number that make it part of a date or a time.
_DATED = (
    "am pm st nd rd th january february march april may june july august september october november december"
    " jan feb mar apr jun jul aug sep sept oct nov dec"
)
#: Words after a number that are not units: prepositions, conjunctions and the like.
_JOINTS = "and or to of in on at with for from by is was were are the an but this that last per than more less"
_DATES, _NO_UNITS = frozenset(_DATED.split()), frozenset(_JOINTS.split())
_MONTH_BEFORE = re.compile(
    r"(?i)\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? ?$|(?:\b[0-9]{1,4})[:/-]$"
)


class Quantity(NamedTuple):
    """A number with its unit or metric in lower case, as written ("views"); "" without one."""

    value: float
    unit: str


def quantities(text: str) -> list[Quantity]:
    """Return the quantities of a text: "340 views" is (340, "views"), "2.8x" (2.8, "times"), "$1.5k" (1500, "usd").

    Parts of dates and times do not count. A number like 1999 or 2024 without a unit is taken for a year.
    """
    result = []
    for match in _QUANTITY.finditer(text):
        word = (match["glued"] or match["unit"] or "").lower()
        if (
            word in _DATES
            or _MONTH_BEFORE.search(text[: match.start()])
            or re.match(r"[:/][0-9]", text[match.end("number") :])
        ):
            continue
        metric = _BEFORE.search(text[: match.start()])
        unit = (
            _CURRENCIES.get(match["currency"] or "")
            or _SIGNS.get(match["sign"] or "")
            or (word if word not in _NO_UNITS else "")
            or (metric["metric"].lower() if metric else "")
        )
        value = float(match["number"].replace(",", "")) * _SCALES.get((match["scale"] or "").lower(), 1.0)
        if not unit and re.fullmatch(r"(?:19|20)[0-9]{2}", match["number"]):
            continue
        result.append(Quantity(value, unit))
    return result
