"""Growth of the number of known keys over a subject's sessions, which should flatten (Agent 8.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from reverie.evaluate.conduct.rates import SessionCounts
from reverie.store.database import Store
from reverie.store.queries import queries

#: The share of today's keys that makes a useful scaffold.
_USEFUL = 0.8


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyGrowth:
    """The mean number of keys per subject after its n-th session, over subjects with that many sessions."""

    #: From the first session on.
    after: tuple[float, ...]
    #: Number of subjects behind each mean.
    subjects: tuple[int, ...]
    #: Ratio of keys gained in the second half of the sessions to those gained in the first; see `flattening`.
    flattening: float | None
    #: Median number of sessions until 80 % of today's keys were known; None without keys.
    sessions_to_useful: float | None


def keys_first_known(store: Store, tenant_id: str, *, as_of: datetime) -> list[tuple[str, str, datetime]]:
    """Return (subject, `fact` or `scaffold`, time at which it was first known) of each key."""
    with store.transaction(tenant_id) as conn:
        return conn.execute(queries("conduct")["keys"], {"tenant": tenant_id, "as_of": as_of}).fetchall()


def key_growth(sessions: Sequence[SessionCounts], keys: Sequence[tuple[str, str, datetime]]) -> KeyGrowth:
    """Return how the keys of subjects grow; a key counts for the session in which it was first known.

    Known error: keys of facts that faded are missing, so early growth is somewhat too low.
    """
    began: dict[str, list[datetime]] = defaultdict(list)
    for each in sessions:
        began[each.subject_id].append(each.began)
    known_at: dict[str, list[datetime]] = defaultdict(list)
    for subject, _, at in keys:
        known_at[subject].append(at)
    curves, useful = [], []
    for subject, starts in began.items():
        times = known_at.get(subject, [])
        ends = [*starts[1:], datetime.max.replace(tzinfo=starts[0].tzinfo)]
        curve = [sum(at < end for at in times) for end in ends]
        curves.append(curve)
        if times:
            useful.append(next(number for number, known in enumerate(curve, 1) if known >= _USEFUL * len(times)))
    longest = max(map(len, curves), default=0)
    reached = [[curve[place] for curve in curves if len(curve) > place] for place in range(longest)]
    halves = [(curve[(len(curve) - 1) // 2], curve[-1]) for curve in curves if len(curve) > 1]
    return KeyGrowth(
        after=tuple(sum(known) / len(known) for known in reached),
        subjects=tuple(map(len, reached)),
        flattening=flattening(halves),
        sessions_to_useful=float(sorted(useful)[(len(useful) - 1) // 2]) if useful else None,
    )


def flattening(halves: Sequence[tuple[int, int]]) -> float | None:
    """Return the ratio of keys gained in the second half to keys gained in the first.

    Each pair has the number of keys after the first half of a subject's sessions and at the end. Formula: sum(end -
    middle) / sum(middle). 1 is linear growth; healthy growth flattens and is less (Agent 8.2). None if no subject
    has two sessions and a key.
    """
    first = sum(middle for middle, _ in halves)
    return sum(end - middle for middle, end in halves) / first if first else None
