"""What every heading of a policy file is made of: a frozen table, and the ranges its keys have in common."""

from __future__ import annotations

import re
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
    """A frozen heading of a policy file; an unknown key is an error, and a default is checked like a given value."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


def common(pattern: str) -> str:
    """The pattern, if both regex engines read it alike; else `ValueError` naming what they do not share."""
    if found := _UNCOMMON.search(pattern):
        raise ValueError(f"pattern {pattern!r} uses {found[0]!r}, which the two regex engines treat differently")
    return pattern


@cache  # a policy has hundreds of patterns, and the policies of one base have most of them in common
def compiles(pattern: str) -> str:
    """The pattern, if it is a regular expression; else `ValueError` with what is wrong."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from error
    return pattern


#: A regular expression that is searched in one text at a time.
Regex = Annotated[str, AfterValidator(compiles)]
#: One that is searched in many texts at once.
ColumnRegex = Annotated[str, AfterValidator(compiles), AfterValidator(common)]
