"""The base class of the headings of a policy file, and the ranges that keys share."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import cache
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

_UNCOMMON = re.compile(r"\(\?(?:[=!]|<[=!]|P=|P?<(?![xy]>))|\\[sSdDwW1-9AZz]|\$$")

Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=-20.0, le=20.0)]
Count = Annotated[int, Field(ge=1, le=100_000)]
Days = Annotated[float, Field(ge=0.0, le=36_500.0)]
Tokens = Annotated[int, Field(ge=0, le=1_000_000)]


class Table(BaseModel):
    """A frozen heading of a policy file; unknown keys are errors, and defaults are validated like stated values."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


def common(pattern: str) -> str:
    """Return the pattern; raise `ValueError` with the part that the two regex engines treat differently."""
    if found := _UNCOMMON.search(pattern):
        raise ValueError(f"pattern {pattern!r} uses {found[0]!r}, which the two regex engines treat differently")
    return pattern


@cache  # a policy has hundreds of patterns, and policies with the same base share most of them
def compiles(pattern: str) -> str:
    """Return the pattern; raise `ValueError` with the reason if it is not a regular expression."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from error
    return pattern


def known_name(names: Collection[str]) -> Callable[[str], str]:
    """Return a function that returns one of these names; it raises `ValueError` with the names for any other."""

    def check(name: str) -> str:
        if name not in names:
            raise ValueError(f"there is no such name; known are {', '.join(names)}")
        return name

    return check


#: A regular expression for one text at a time.
Regex = Annotated[str, AfterValidator(compiles)]
#: A regular expression for many texts at once.
ColumnRegex = Annotated[str, AfterValidator(compiles), AfterValidator(common)]
