"""What events are about."""

import pytest

from reverie.language.statements.things import things


@pytest.mark.parametrize(
    ("clause", "nouns"),
    [
        ("Our recipe post got 340 views", ["recipe", "post", "view"]),
        ("The sourdough post got 1,200 views", ["sourdough", "post", "view"]),
        ("Pip went to the vet", ["pip", "vet"]),
        ("the boiler broke again", ["boiler"]),
        ("signed the lease", ["lease"]),
        ("went there on Monday morning", []),
        ("We're out of the connections, and I’ve no time", ["connection"]),
    ],
)
def test_nouns_of_an_event(clause: str, nouns: list[str]) -> None:
    assert things(clause) == nouns
