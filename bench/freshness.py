"""The time from a turn's acknowledgement until it is recalled, under the mixed load of bench/api.py.

    python bench/freshness.py [--memories 20000] [--minutes 1] [--load 0.7] [--work DIRECTORY] [--keep]

Twice a second, a turn with a unique name is sent to one of the loaded subjects, in a session of its own. As soon as its
acknowledgement is read, another connection asks for it, outside its session, repeatedly until it is found: by words
alone, with a vector of the question, or for a context, in turn. The time ends with the first response that has the
turn; `at once` is the share of turns in the very first response. A third of the sessions are closed before the
question, so that they are flushed meanwhile, and a third of the turns are the first of their subject.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections import defaultdict
from typing import NamedTuple

import numpy as np
import orjson
import uvloop

from bench.api import MIX, PEAK_SECONDS, Load, hold_sessions
from bench.api_server import MEMORIES_EACH, loading, running, settle, vocabulary
from bench.http_load import Connection, closed_loop, open_loop
from bench.report import machine, print_table

#: Probes per second, and seconds after which a probe is given up.
PROBES_A_SECOND = 2
GIVEN_UP = 20.0
#: Seconds between two questions for a turn.
PAUSE = 0.01
WAYS, STATES = ("recall by words", "recall", "context"), ("open", "closed", "new subject")
LETTERS = "bcdfghjklmnpqrstvwxz"


def asked(way: str, subject: str, name: str) -> tuple[str, str, bytes]:
    """Return the request that asks for a turn: /v1/recalls without or with a vector, or /v1/contexts."""
    body = {"subject_id": subject, "question": f"Who is {name}?"}
    if way == "context":
        return "POST", "/v1/contexts", orjson.dumps(body)
    return "POST", "/v1/recalls", orjson.dumps(body | {"embed": way != "recall by words"})


class Answer(NamedTuple):
    """Seconds until a turn was found, the number of requests, and whether it was marked `fresh`."""

    seconds: float
    times: int
    is_fresh: bool


async def probe(port: int, key: str, subject: str, number: int, way: str, state: str) -> Answer:
    """Send a turn and ask for it until it is found."""
    made = random.Random(number)
    name = "".join(made.choices(LETTERS, k=9)).title()
    place = {"subject_id": subject, "session_id": f"probe-{number}"}
    said = f"My neighbour {name} has come to see the new kitchen."
    body = place | {"turns": [{"role": "user", "speaker": "Ana", "text": said}]}
    sender, asker, times = Connection(port, key), Connection(port, key), 0
    assert await sender.ask(("POST", "/v1/turns", orjson.dumps(body))) == 200
    began = time.perf_counter()
    if state == "closed":
        assert await sender.ask(("POST", "/v1/sessions/close", orjson.dumps(place))) == 200
        began = time.perf_counter()
    while (seconds := time.perf_counter() - began) < GIVEN_UP:
        times += 1
        status, found = await asker.fetch(asked(way, subject, name))
        assert status == 200
        if said.encode() in found:
            is_fresh = b"just now" in found or b'"fresh":true' in found
            return Answer(time.perf_counter() - began, times, is_fresh)
        await asyncio.sleep(PAUSE)
    return Answer(seconds, times, False)


async def measure(options: argparse.Namespace, port: int, key: str, make: Load, url: str) -> None:
    """Measure under the mixed load."""
    chosen, subjects = random.Random(3), options.memories // MEMORIES_EACH

    def any_kind() -> tuple[str, str, bytes]:
        return make.make(chosen.choices(list(MIX), list(MIX.values()))[0])

    def connections() -> list[Connection]:
        return [Connection(port, key) for _ in range(16)]

    await hold_sessions(port, key)
    for _ in range(2):  # the first finds nothing in memory
        found, _ = await closed_loop(connections(), any_kind, PEAK_SECONDS)
    rate = options.load * len(found) / PEAK_SECONDS
    await asyncio.to_thread(settle, url)
    seconds = int(60 * options.minutes)
    probes: dict[asyncio.Task[Answer], tuple[str, str]] = {}

    async def send_probes() -> None:
        begin = time.perf_counter()
        for number in range(PROBES_A_SECOND * seconds):
            await asyncio.sleep(max(0.0, begin + number / PROBES_A_SECOND - time.perf_counter()))
            way, state = WAYS[number % 3], STATES[number // 3 % 3]
            subject = f"new{number:05}" if state == "new subject" else f"s{chosen.randrange(subjects):05}"
            probes[asyncio.create_task(probe(port, key, subject, number, way, state))] = way, state

    def nothing() -> None:
        """Do nothing at the end of a second."""

    (_, statuses), _ = await asyncio.gather(open_loop(connections(), any_kind, rate, seconds, nothing), send_probes())
    answers: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    for task, (way, state) in probes.items():
        for place in ((way, "all"), ("all", state), ("all", "all")):
            answers[place].append(await task)
    rows = []
    for (way, state), some in sorted(answers.items()):
        quantiles = 1e3 * np.percentile([answer.seconds for answer in some], (50, 95, 99))
        shares = [np.mean([answer.times == 1 for answer in some]), np.mean([answer.is_fresh for answer in some])]
        lost = sum(answer.seconds >= GIVEN_UP for answer in some)
        rows.append(
            (way, state, len(some), *(f"{ms:.1f}" for ms in quantiles), *(f"{one:.0%}" for one in shares), lost)
        )
    failed = {status: count for status, count in statuses.items() if status != 200}
    title = (
        f"From acknowledged to recalled, ms, beside {rate:,.0f} requests a second ({options.load:.0%} of the peak; "
        f"failed: {failed or 'none'}); {machine()}"
    )
    print_table(title, ("asked by", "session", "turns", "p50", "p95", "p99", "at once", "fresh", "not found"), rows)


def main() -> None:
    """Load, start the server, measure."""
    parser = loading(__doc__)
    parser.set_defaults(memories=20_000)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--load", type=float, default=0.7, help="share of the peak of the mix")
    options = parser.parse_args()
    with running(options) as server:
        make = Load(vocabulary(), server.ids, options.memories // MEMORIES_EACH, seed=int(time.time()))
        uvloop.run(measure(options, server.port, server.key, make, server.url))


if __name__ == "__main__":
    main()
