"""Signals: seconds for a large log, alerts of silence on simulated declines, and whether a mood says the next.

`python -m bench signals [--turns 1000000] [--people 400] [--messages FOLDER]`. The log and the people are simulated and seeded.
Each figure stands beside a plain rule: silence beside a fixed week, the next mood beside the one before.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime, timedelta

from reverie.policy import load_policy

BEGIN = datetime(2026, 1, 5, 19, tzinfo=UTC)
DAY = timedelta(days=1)
#: Turns of a subject, and of a session.
_OF_SUBJECT, _OF_SESSION = 2_000, 10


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--people", type=int, default=400)
    options = parser.parse_args()
    silence(load_policy("contact"), options.people)
