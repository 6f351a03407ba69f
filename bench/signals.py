"""Signals: seconds for a large log, and alerts of silence on simulated declines beside a fixed week.

    python -m bench signals [--turns 1000000] [--people 400]

The log and the people are simulated and seeded. The messages have no vectors: moods are told by keywords. An alert is
right if the person's pauses had begun to grow; a person who writes as before should get none.
"""

from __future__ import annotations

import argparse
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

from bench.pipeline import server
from bench.report import machine, print_table
from reverie.consolidate.signal.acquaintance import Pause, pauses_of
from reverie.consolidate.signal.alerts import after_silence
from reverie.consolidate.signal.history import SessionSpan
from reverie.consolidate.signal.stage import signal
from reverie.model import Scope
from reverie.policy import Policy, load_policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.work import Work
from reverie.testing import WordEmbedder

BEGIN = datetime(2026, 1, 5, 19, tzinfo=UTC)
DAY = timedelta(days=1)
#: A rule that knows nobody: so many days without a message.
FIXED = timedelta(days=7)
#: A thousand turns of each subject: ten a session, a session a day.
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
    options = parser.parse_args()
    silence(load_policy("contact"), options.people)
    speed(load_policy("contact"), options.turns)
    print(machine())


def silence(policy: Policy, people: int) -> None:
    """Print precision and recall of alerts: half of the people's pauses grow by half each time from a day on."""
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
    """The active days of a person over about half a year, and from which day its pauses grow."""
    mean, day, days = random.choice([1.0, 2.0, 3.5, 7.0]), 0.0, list[float]()
    begin = random.uniform(90, 120) if declines else None
    growing = mean
    while day < 180:
        days.append(day)
        if begin is not None and day >= begin:
            growing *= 1.5
        day += max(1.0, random.gauss(growing, growing * 0.3))
    return days, begin


def speed(policy: Policy, turns: int) -> None:
    """Print the seconds that the stage takes for a log, all of it and a day more of one subject."""
    with server() as url, Store.open(url) as store:
        with connect(url) as conn:
            conn.execute("insert into ops.tenants (tenant_id, policy) values ('bench', 'contact')")
            conn.execute(LOAD, {"begin": BEGIN, "turns": turns})
            conn.execute(WAIT)
            conn.execute("vacuum analyze log.turns")
        work = Work(
            store=store, scope=Scope(tenant_id="bench"), policy=policy, as_of=BEGIN + 400 * DAY, embedder=WordEmbedder()
        )
        began = time.perf_counter()
        report = signal(work)
        seconds = time.perf_counter() - began
        print_table(
            "Signals of a log",
            ("turns", "days", "moods", "seconds"),
            [(turns, report["days"], report["moods"], f"{seconds:.1f}")],
        )


if __name__ == "__main__":
    main()
