"""“Did you mean ...?”: the names that resemble one which nothing has. The group `reverie` asks it of every error."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches

import click

from reverie.errors import ReverieError

#: Names that are proposed.
_PROPOSED = 3
_NOT_ONE_OF = re.compile(r"^(?P<name>'[^']*') is (?:not one|none) of (?P<known>.+)\.$")
_NO_COMMAND = re.compile(r"^No such command (?P<name>'[^']*')\.$")


def similar(name: str, known: Collection[str]) -> list[str]:
    """Return the known names that a person may have meant, the likeliest first; none if the name is known."""
    if name in known:
        return []
    originals = {each.casefold(): each for each in known}
    asked = name.casefold()
    close = get_close_matches(asked, originals, n=_PROPOSED)
    holding = [each for each in originals if len(asked) > 2 and asked in each]
    return [originals[each] for each in dict.fromkeys([*close, *holding])][:_PROPOSED]


def question(names: Collection[str]) -> str:
    """Return ` Did you mean 'a' or 'b'?`, or nothing for no names."""
    return f" Did you mean {' or '.join(map(repr, names))}?" if names else ""


def of_error(error: ReverieError) -> str:
    """Return the question for an error of ours, or nothing."""
    if error.unknown and error.unknown[0] == "policy":  # raised with and without a session
        from reverie.policy import shipped_policies

        error.similar = similar(error.unknown[1], shipped_policies())
    return question(error.similar)


def of_usage(error: click.UsageError) -> str:
    """Return the question for a wrong use, from the words of its message, or nothing; click knows options itself."""
    if found := _NOT_ONE_OF.match(error.message):
        known = re.findall(r"[\w-]+", found["known"])
    elif (found := _NO_COMMAND.match(error.message)) and error.ctx and isinstance(error.ctx.command, click.Group):
        if getattr(error, "possibilities", None):
            return ""
        known = error.ctx.command.list_commands(error.ctx)
    else:
        return ""
    return question(similar(found["name"][1:-1], known))
