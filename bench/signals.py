"""Signals: seconds for a large log, alerts of silence on simulated declines, and whether a mood says the next.

`python -m bench signals [--turns 1000000] [--people 400] [--messages FOLDER]`. The log and the people are simulated and seeded.
Each figure stands beside a plain rule: silence beside a fixed week, the next mood beside the one before.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from bench.report import print_table
from reverie.consolidate.signal.acquaintance import pauses_of
from reverie.consolidate.signal.alerts import after_silence
from reverie.consolidate.signal.history import SessionSpan
from reverie.consolidate.signal.stage import signal
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.database import Store
from reverie.store.work import Work
from reverie.testing import DatabaseFactory, WordEmbedder
from tests.conftest import EmbeddedPostgres

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
