"""The API under load from another process, beside bare handlers in the same server.

    python bench/api.py [--memories 200000] [--seconds 2] [--mixed 10] [--work DIRECTORY] [--keep]

There are 2,000 subjects by default, each with 100 memories and the 200 turns around them. Words follow Zipf and vectors
are Gaussian, so this measures cost and not quality. The server is `reverie serve`'s app, one process, with two extra
handlers: `bare SELECT` reads one row by its key, `bare INSERT` writes one and commits. Both use autocommit on their own
pool, without key, tenant or checks: the least that a handler on this server can cost.

This process generates the load with a small HTTP/1.1 client on asyncio streams (httpx takes several times its CPU), in
a closed loop. The kinds take turns in rounds, so that other load affects all kinds alike, for two seconds each, since
the first requests after a pause find the processor's caches cold. A few questions about each subject come first, since
the server caches who speaks of whom, and Postgres maps the pages that a connection reads for the first time. Beside the
time of each kind stands the processor time of server, Postgres and load, which other load affects less. When the
sessions of these loops are in the log and a checkpoint is complete, `--mixed` minutes follow at 70 % of the rate that
the mix reaches with 16 connections. Requests are due by the clock, and their time counts from when they were due.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import orjson
import psutil
import uvloop

from bench.api_server import MEMORIES_EACH, TURNS_A_SESSION, loading, running, settle, until_flushed, vocabulary
from bench.http_load import Connection, Processors, Request, closed_loop, open_loop
from bench.processor import processor
from bench.report import machine, print_table
from reverie.api.journal import PAUSE_SECONDS

ROUNDS = 6
#: Questions about each subject before measuring.
ASKED_BEFORE = 4
#: Seconds for which the peak of the mix is measured.
PEAK_SECONDS = 8
#: A second is calm if at most this share of processor time was taken by the host or waited for the disk, in that second
#: and in the seconds before it during which a queue may still be draining.
DISTURBED, RECOVERS = 0.02, 10
#: Share of each kind in the mix. Every session has 19 turns and is closed when the next one has all its turns.
MIX = {"append": 0.40, "working memory": 0.25, "recall": 0.20, "recall, embedded": 0.05, "context, embedded": 0.10}
#: The peer of each kind; that of the others is `bare SELECT`.
PEER = {"append": "bare INSERT", "append, embedded": "bare INSERT"}


class Load:
    """Generates requests, each about a random subject with words that occur in its turns."""

    def __init__(self, words: Sequence[str], ids: Sequence[str], subjects: int, seed: int) -> None:
        self._random, self._words, self._ids, self._subjects = random.Random(seed), words, ids, subjects
        self._seed, self._appended = seed, 0

    def make(self, kind: str, about: int | None = None) -> Request:
        """Return a request (method, path, body) about the subject with this number, or a random one."""
        subject = f"s{self._random.randrange(self._subjects) if about is None else about:05}"
        question = f"When did Ana {' '.join(self._random.choices(self._words, k=5))}?"
        embed = kind.endswith("embedded")
        match kind.split(",")[0]:
            case "bare SELECT":
                return "GET", f"/bare/{self._random.choice(self._ids)}", b""
            case "bare INSERT":
                return "POST", "/bare", b""
            case "append":
                number, turn_index = divmod(self._appended, TURNS_A_SESSION)
                self._appended += 1
                if number and turn_index == TURNS_A_SESSION - 1:  # the previous session, which exists by now
                    subject, session = self._place(number - 1)
                    return "POST", "/v1/sessions/close", _json(subject_id=subject, session_id=session)
                subject, session = self._place(number)
                said = f"I have a dog named {self._random.choice(self._words).title()} and I like {question}"
                turn = {"source_id": str(turn_index), "role": "user", "speaker": "Ana", "text": said}
                return "POST", "/v1/turns", _json(subject_id=subject, session_id=session, turns=[turn], embed=embed)
            case "working memory":
                return "GET", f"/v1/working_memory?subject_id=s{self._random.randrange(50):05}&session_id=held", b""
            case "recall":
                return "POST", "/v1/recalls", _json(subject_id=subject, question=question, embed=embed)
            case _:
                return "POST", "/v1/contexts", _json(subject_id=subject, question=question, embed=embed)

    def _place(self, number: int) -> tuple[str, str]:
        """Return the subject and id of a live session."""
        return f"s{number % self._subjects:05}", f"live-{self._seed}-{number}"


def _json(**body: object) -> bytes:
    return orjson.dumps(body)


async def measure(options: argparse.Namespace, port: int, key: str, make: Load, used: Processors, url: str) -> None:
    """Measure each kind of request at 1 and 16 connections, then the mix."""
    await hold_sessions(port, key)
    kinds = [
        "bare SELECT", "bare INSERT", "append", "append, embedded", "working memory", "recall", "recall, embedded",
        "context", "context, embedded",
    ]  # fmt: skip
    for number in (1, 16):
        connections = [Connection(port, key) for _ in range(number)]
        times: dict[str, list[float]] = defaultdict(list)
        failed: dict[str, Counter[int]] = defaultdict(Counter)
        spent: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(3))
        await ask_about_all(connections, make, options.memories // MEMORIES_EACH)
        began = processor()
        for kind in kinds:  # prepares statements, and connects
            await closed_loop(connections, partial(make.make, kind), 0.5)
        for _ in range(ROUNDS):
            for kind in kinds:
                before = used.used()
                found, statuses = await closed_loop(connections, partial(make.make, kind), options.seconds)
                await asyncio.sleep(2 * PAUSE_SECONDS)  # so that its remaining work does not count for the next kind
                if kind.startswith("append"):
                    await asyncio.to_thread(until_flushed, url)
                spent[kind] += used.used() - before
                times[kind] += found
                failed[kind].update({status: count for status, count in statuses.items() if status != 200})
        rows = []
        for kind in kinds:
            peer = times[PEER.get(kind, "bare SELECT")]
            quantiles = np.percentile(times[kind], (50, 95, 99))
            rate = len(times[kind]) / (ROUNDS * options.seconds)
            ratios = [f"{ratio:.1f}" for ratio in quantiles[:2] / np.percentile(peer, (50, 95))]
            each = 1e3 * spent[kind] / len(times[kind])
            least = spent["bare SELECT"].sum() / len(times["bare SELECT"])
            cost = [f"{each[0]:.2f} + {each[1]:.2f} + {each[2]:.2f}", f"{each.sum() / 1e3 / least:.1f}"]
            rows.append((kind, f"{rate:,.0f}", *(f"{ms:.2f}" for ms in quantiles), *ratios, *cost, told(failed[kind])))
        columns = (
            "request", "a second", "p50", "p95", "p99", "p50 / bare", "p95 / bare",
            "processor ms: server + Postgres + load", "/ bare", "failed",
        )  # fmt: skip
        whole, *_, taken = processor() - began
        title = f"{number} connection{'s' * (number > 1)}, ms; {taken / whole:.0%} of the processors taken by the host"
        print_table(f"{title}; {machine()}", columns, rows)
    if options.mixed:
        await mixed(options, lambda: [Connection(port, key) for _ in range(16)], make, used.server, url)


async def hold_sessions(port: int, key: str) -> None:
    """Open the sessions whose working memory is read."""
    for subject in range(50):
        for number in range(TURNS_A_SESSION):
            turn = {"source_id": str(number), "role": "user", "text": f"I like tea and item {number}."}
            body = _json(subject_id=f"s{subject:05}", session_id="held", turns=[turn], embed=False)
            assert await Connection(port, key).ask(("POST", "/v1/turns", body)) == 200


async def ask_about_all(connections: Sequence[Connection], make: Load, subjects: int) -> None:
    """Send a few requests about each subject, so that no first request is measured."""
    left = iter(list(range(subjects)) * ASKED_BEFORE)

    async def ask(connection: Connection) -> None:
        for subject in left:
            assert await connection.ask(make.make("recall", subject)) == 200

    await asyncio.gather(*map(ask, connections))


def told(failed: Mapping[int, int]) -> str:
    """Count failures by status; 0 means that the connection broke."""
    return ", ".join(f"{count} x {status}" for status, count in sorted(failed.items())) or "none"


async def mixed(
    options: argparse.Namespace,
    connect_all: Callable[[], list[Connection]],
    make: Load,
    process: psutil.Process,
    url: str,
) -> None:
    """Measure the mix at 70 % of its peak, after the background work that the closed loops caused."""
    chosen = random.Random(2)

    def any_kind() -> Request:
        return make.make(chosen.choices(list(MIX), list(MIX.values()))[0])

    found, _ = await closed_loop(connect_all(), any_kind, PEAK_SECONDS)
    rate = 0.7 * len(found) / PEAK_SECONDS
    waited = await asyncio.to_thread(settle, url)
    memory: list[float] = []
    spent: list[np.ndarray] = []

    def look() -> None:
        memory.append(process.memory_info().rss / 2**20)
        spent.append(processor())

    seconds, statuses = await open_loop(connect_all(), any_kind, rate, int(60 * options.mixed), look)
    whole, idle, disk, taken = np.diff(spent, axis=0).T
    used = whole - idle - disk - taken
    busy = (disk + taken) / whole > DISTURBED
    calm = [not busy[max(0, second - RECOVERS) : second + 1].any() for second in range(len(seconds))]
    rows = []
    for number in range(-(-len(seconds) // 60)):
        minute = slice(60 * number, 60 * number + 60)
        every = np.concatenate(seconds[minute])
        quiet = [times for times, is_calm in zip(seconds[minute], calm[minute], strict=True) if is_calm]
        of_quiet = f"{np.percentile(np.concatenate(quiet), 95):.1f}" if quiet else ""
        times_told = [f"{value:.1f}" for value in np.percentile(every, (50, 95, 99))]
        shares = [f"{part[minute].sum() / whole[minute].sum():.0%}" for part in (used, disk, taken)]
        rows.append(
            (number + 1, len(every), *times_told, f"{memory[minute][-1]:,.0f}", *shares, str(len(quiet)), of_quiet)
        )
    title = f"Mixed load, {rate:,.0f} requests a second (70 % of the peak), ms from when a request was due"
    columns = (
        "minute", "requests", "p50", "p95", "p99", "server MiB", "processor in use", "waits for the disk",
        "taken by the host", "calm seconds", "p95 of these",
    )  # fmt: skip
    print_table(title, columns, rows)
    wrong = {status: count for status, count in statuses.items() if status != 200}
    print(
        f"Failed of {sum(statuses.values()):,}: {told(wrong)}; p95 of the later half {growth(seconds):.2f} times that "
        f"of the earlier, in calm seconds {growth(seconds, calm):.2f} times; server memory {memory[0]:,.0f} to "
        f"{memory[-1]:,.0f} MiB. Settled for {waited:.0f} s before."
    )


def growth(seconds: Sequence[Sequence[float]], among: Sequence[bool] | None = None) -> float:
    """Return p95 of the later half of the seconds over that of the earlier, `among` these; nan if a half has none."""
    half = len(seconds) // 2
    parts: list[list[float]] = [[], []]
    for second, times in enumerate(seconds):
        if among is None or among[second]:
            parts[second >= half].extend(times)
    early, late = (np.percentile(part, 95) if part else np.nan for part in parts)
    return float(late / early)


def main() -> None:
    """Load, start the server, measure."""
    parser = loading(__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a kind and round")
    parser.add_argument("--mixed", type=float, default=10.0, help="minutes of mixed load; 0: none")
    options = parser.parse_args()
    with running(options) as server:
        make = Load(vocabulary(), server.ids, options.memories // MEMORIES_EACH, seed=int(time.time()))
        uvloop.run(measure(options, server.port, server.key, make, server.used, server.url))


if __name__ == "__main__":
    main()
