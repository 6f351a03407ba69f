""" "Did you mean ...?": suggests names that resemble an unknown name. The group `reverie` does this for every error."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches

import click

from reverie.errors import ReverieError

#: Maximum number of suggested names.
_SUGGESTED = 3
_NOT_ONE_OF = re.compile(r"^(?P<name>'[^']*') is (?:not one|none) of (?P<known>.+)\.$")
_NO_COMMAND = re.compile(r"^No such command (?P<name>'[^']*')\.$")


def similar(name: str, known: Collection[str]) -> list[str]:
    """Return the known names that resemble `name`, the closest first; none if the name is known."""
    if name in known:
        return []
    originals = {candidate.casefold(): candidate for candidate in known}
    folded = name.casefold()
    close = get_close_matches(folded, originals, n=_SUGGESTED)
    containing = [candidate for candidate in originals if len(folded) > 2 and folded in candidate]
    return [originals[candidate] for candidate in dict.fromkeys([*close, *containing])][:_SUGGESTED]


def question(names: Collection[str]) -> str:
    """Return ` Did you mean 'a' or 'b'?`, or an empty text if there are no names."""
    return f" Did you mean {' or '.join(map(repr, names))}?" if names else ""


def of_error(error: ReverieError) -> str:
    """Return the question for one of Reverie's errors, or an empty text."""
    if error.unknown and error.unknown[0] == "policy":  # raised with and without a session
        from reverie.policy import shipped_policies

        error.similar = similar(error.unknown[1], shipped_policies())
    return question(error.similar)


def of_usage(error: click.UsageError) -> str:
    """Return the question for a usage error, or an empty text. click itself suggests options."""
    if match := _NOT_ONE_OF.match(error.message):
        known = re.findall(r"[\w-]+", match["known"])
    elif (match := _NO_COMMAND.match(error.message)) and error.ctx and isinstance(error.ctx.command, click.Group):
        if getattr(error, "possibilities", None):
            return ""
        known = error.ctx.command.list_commands(error.ctx)
    else:
        return ""
    return question(similar(match["name"][1:-1], known))
