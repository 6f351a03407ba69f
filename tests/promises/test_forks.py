"""The processes that tests kill spend their time on their work and not on imports."""

from __future__ import annotations

import sys

from tests.promises.forks import FORKS


def look() -> None:
    """End well if what all need is there already."""
    sys.exit("tests.promises.forked" not in sys.modules)


def test_a_forked_process_has_everything_imported() -> None:
    process = FORKS.Process(target=look)
    process.start()
    process.join(60)
    assert process.exitcode == 0, "python -c 'import tests.promises.forked' tells why"
