"""Signals: seconds for a large log, alerts of silence beside a fixed week, and trends found in noise and in rises.

    python -m bench signals [--turns 1000000] [--people 400] [--policy reverie]

The log and the people are simulated with a seed. The messages have no vectors, so moods come from keywords. An alert is
right if the person's pauses had begun to grow; a person who writes as before should get none. A trend found in noise is
wrong; a quarter of the people have four series of 30 numbers each. With --turns 0 the log is left out.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from uuid import UUID

import numpy as np

from bench.pipeline import server
from bench.report import machine, print_table
from reverie.consolidate.signal.acquaintance import Pause, pauses_of
from reverie.consolidate.signal.alerts import after_silence
from reverie.consolidate.signal.history import SessionSpan
from reverie.consolidate.signal.rank_tests import Values, trend_p
from reverie.consolidate.signal.stage import signal
from reverie.consolidate.signal.trends import Number, TrendChange, trend_changes
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.policy.insights import InsightsPolicy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.work import Work
from reverie.testing import WordEmbedder

BEGIN = datetime(2026, 1, 5, 19, tzinfo=UTC)
DAY = timedelta(days=1)
#: The peer, the same for everybody: an alert after this time without a message.
FIXED = timedelta(days=7)
#: A thousand turns per subject: ten per session, one session per day.
LOAD = """
insert into log.turns (tenant_id, id, subject_id, session_id, source_id, turn_index, role, said_at, text, content_hash)
select 'bench', md5(n::text)::uuid, 's' || n / 1000, 'd' || n / 10, n::text, n %% 10,
       case when n %% 2 = 0 then 'user' else 'assistant' end,
       %(begin)s::timestamptz + (n %% 1000) / 10 * interval '1 day' + (n %% 10) * interval '2 minutes',
       (array['I walked the dog to work', 'so sad today', 'that is amazing!', 'What do you think?'])[1 + n %% 4], ''
from generate_series(0, %(turns)s - 1) n;
"""
WAIT = """
insert into memory.signal_days (tenant_id, subject_id, day, turns)
select tenant_id, subject_id, (said_at at time zone 'UTC')::date, count(*)
from log.turns where tenant_id = 'bench' group by 1, 2, 3
"""


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=1_000_000)
    parser.add_argument("--people", type=int, default=400)
    parser.add_argument("--policy", default="reverie", help="of the large log; `contact` keeps no words of messages")
    options = parser.parse_args()
    silence(load_policy("contact"), options.people)
    trends(load_policy("reverie").insights, options.people // 4)
    if options.turns:
        speed(load_policy(options.policy), options.turns)
    print(machine())


def silence(policy: Policy, people: int) -> None:
    """Print precision and recall of alerts; from a day on, the pauses of half of the people grow by half each time."""
    random = Random(7)
    told = {"own pauses": [0, 0, 0, 0], "a fixed week": [0, 0, 0, 0]}
    regular = {"own pauses": 0, "a fixed week": 0}
    for number in range(people):
        days, declines = _days(random, declines=number % 2 == 0)
        sessions = [SessionSpan(BEGIN + day * DAY, BEGIN + day * DAY + timedelta(hours=1)) for day in days]
        own = {alert.happened_at for alert in after_silence(ended_pauses(sessions, policy), policy)}
        fixed = {a.ended for a, b in pairwise(sessions) if b.began - a.ended > FIXED}
        for name, alerts in (("own pauses", own), ("a fixed week", fixed)):
            right = [at for at in alerts if declines is not None and at >= BEGIN + declines * DAY]
            told[name][0] += bool(right)
            told[name][1] += len(alerts) - len(right)
            told[name][2] += declines is not None
            told[name][3] += len(right)
    for weekly in range(100):
        drift = Random(weekly)
        sessions = [SessionSpan(at, at + timedelta(hours=1)) for week in range(30)
                    for at in [BEGIN + 7 * week * DAY + drift.uniform(-12, 12) * timedelta(hours=1)]]  # fmt: skip
        regular["own pauses"] += len(after_silence(ended_pauses(sessions, policy), policy))
        regular["a fixed week"] += sum(b.began - a.ended > FIXED for a, b in pairwise(sessions))
    rows = [
        (name, f"{right / max(right + false, 1):.2f}", f"{found / declining:.2f}", regular[name])
        for name, (found, false, declining, right) in told.items()
    ]
    print_table("Alerts of silence", ("silence against", "precision", "recall", "alerts on 100 weekly contacts"), rows)


def ended_pauses(sessions: list[SessionSpan], policy: Policy) -> list[Pause]:
    """Return the pauses after which the person wrote again."""
    return [pause for pause in pauses_of(sessions, policy) if pause.end is not None]


def _days(random: Random, *, declines: bool) -> tuple[list[float], float | None]:
    """Return a person's active days over about half a year, and the day from which the pauses grow."""
    mean, day, days = random.choice([1.0, 2.0, 3.5, 7.0]), 0.0, list[float]()
    begin = random.uniform(90, 120) if declines else None
    growing = mean
    while day < 180:
        days.append(day)
        if begin is not None and day >= begin:
            growing *= 1.5
        day += max(1.0, random.gauss(growing, growing * 0.3))
    return days, begin


def trends(policy: InsightsPolicy, people: int) -> None:
    """Print for how many people with noise alone a trend is found, and how often a rise of a third is found."""
    rows = []
    for name, dependence in (("independent", 0.0), ("each depends on the one before by .4", 0.4)):
        looks = wrong = ever = 0
        for person in range(people):
            numbers = sorted(_numbers(person, dependence), key=lambda number: number.order)
            changes: dict[Number, list[TrendChange]] = defaultdict(list)
            for change in trend_changes(numbers, BEGIN, policy):
                changes[change.by].append(change)
            in_force = set[str]()
            for number in numbers:
                for change in changes[number]:
                    (in_force.discard if change.is_over else in_force.add)(change.trend.key)
                looks, wrong = looks + 1, wrong + bool(in_force)
            ever += bool(changes and any(changes.values()))
        rows.append((name, f"{wrong / looks:.3f}", f"{ever / people:.3f}"))
    print_table("Trends told of noise", ("noise", "have one at a time", "ever"), rows)
    random = np.random.default_rng(3)
    found = [
        (n, f"{np.mean([trend_p(_rise(random, n)) <= policy.trend_level for _ in range(500)]):.2f}")
        for n in (8, 12, 20)
    ]
    print_table("A rise from 310 to 420 with 8 % of noise", ("numbers", "found"), found)


def _numbers(person: int, dependence: float) -> Iterator[Number]:
    """Yield four series of 30 numbers over 15 weeks without a trend."""
    random = np.random.default_rng(person)
    for series, topic in enumerate(("recipe", "garden", "climbing", "parrot")):
        value = 0.0
        for day in sorted(random.choice(105, 30, replace=False)):
            value = dependence * value + np.sqrt(1 - dependence**2) * random.normal()
            yield Number(
                source="turn", source_id=UUID(int=int(random.integers(1 << 60))), place=0, speaker=None, metric="views",
                at=BEGIN + int(day) * DAY + timedelta(hours=series), value=round(100 + 20 * value, 1),
                topics=(topic, "post"),
            )  # fmt: skip


def _rise(random: np.random.Generator, number: int) -> Values:
    return np.linspace(310, 420, number) * (1 + 0.08 * random.normal(size=number))


def speed(policy: Policy, turns: int) -> None:
    """Print the seconds that the stage takes for a whole log, and for another day of one subject."""
    with server() as url, Store.open(url) as store:
        with connect(url) as conn:
            conn.execute("insert into ops.tenants (tenant_id, policy) values ('bench', %s)", (policy.name,))
            conn.execute(LOAD, {"begin": BEGIN, "turns": turns})
            conn.execute(WAIT)
            conn.execute("vacuum analyze log.turns")
        work = Work(
            store=store, scope=Scope(tenant_id="bench"), policy=policy, as_of=BEGIN + 400 * DAY, embedder=WordEmbedder()
        )
        began, used = time.perf_counter(), time.process_time()
        report = signal(work)
        seconds, used = time.perf_counter() - began, time.process_time() - used
        print_table(
            "Signals of a log",
            ("turns", "days", "moods", "topics", "seconds", "of our own processor time"),
            [(turns, report["days"], report["moods"], report["topics"], f"{seconds:.1f}", f"{used:.1f}")],
        )


if __name__ == "__main__":
    main()
