"""“Did you mean ...?”: the names that resemble one which nothing has. The group `reverie` asks it of every error."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from reverie.errors import ReverieError

if TYPE_CHECKING:
    from reverie.cli.session import Session

#: Names that are proposed.
_PROPOSED = 3
#: Subjects looked at on either side of the one asked for, in the order of their names: a step of an index each.
_AROUND = 500
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


def look_up(session: Session, error: ReverieError) -> None:
    """Note in the error what it may have meant; the database, if it is needed, is still open, and read in bounds."""
    if error.unknown is None:
        return
    noun, name = error.unknown
    with suppress(Exception):  # of a second error nobody wants to hear
        error.similar = similar(name, _known(session, noun, name))


def of_error(error: ReverieError) -> str:
    """Return the question for an error of ours, or nothing."""
    if error.unknown and error.unknown[0] == "policy":  # raised with and without a session
        from reverie.policy import shipped_policies

        error.similar = similar(error.unknown[1], shipped_policies())
    return question(error.similar)


def of_subject(session: Session, subject: str) -> str:
    """Return the question for a subject of whom nothing is remembered, or nothing: that may be no mistake."""
    return question(similar(subject, _known(session, "subject", subject))).strip()


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


def _known(session: Session, noun: str, name: str) -> list[str]:
    if noun == "tenant":
        return [tenant for tenant, _ in session.worker.tenants()]
    if noun == "subject":
        from reverie.store.queries import queries

        params = {"tenant": session.tenant_id, "subject": name, "limit": _AROUND}
        with session.reader.transaction(session.tenant_id) as conn:
            return [row[0] for row in conn.execute(queries("subjects")["around"], params)]
    if noun == "stage":
        from reverie.consolidate.stages import NAMES

        return list(NAMES)
    return []
