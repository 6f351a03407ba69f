"""Requests to a language model for the sample history, the savings by kept replies, and the effect of bad replies.

    python bench/llm.py [--every 3]

The model is a scripted server on loopback (`tests/models/scripted_server.py`), called through litellm. It counts four
bytes as a token, so calls and input tokens are about those of a real model; output tokens are those of its own short
replies.

- calls and tokens per 100 turns by stage, with one item per request and with ten;
- a rebuild: memory is deleted and made again from the log, with and without the kept replies;
- faults: one of `--every` requests about one subject gets a bad reply, once or also when it is repeated.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from bench.pipeline import Noise, forget_all, server
from bench.report import machine, print_table
from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.errors import InferenceError, UnansweredError
from reverie.inference.completions import HostedLanguageModel, Limits
from reverie.model import Scope
from reverie.policy import load_policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.digest import digest
from reverie.store.work import Work
from tests.models.garbling import FAULTS
from tests.models.serving import Server, serving

SAMPLE = Path(__file__).resolve().parent.parent / "examples" / "sample_history.jsonl"
TENANT = "demo"
#: The subject on whose turns the faults are tried.
SUBJECT = "arjun"
#: Reasons for which a single claim about a turn is discarded.
JUDGED = ("discarded_ungrounded", "discarded_unquoted", "discarded_malformed")
#: US dollars per million input and output tokens.
PRICE = (0.15, 0.60)


class World:
    """A history in a database, and the model that reads it."""

    def __init__(self, url: str, asked: Server, history: Path) -> None:
        self.url, self.asked = url, asked
        with Store.open(url) as store:
            summary = import_file(store, history, tenant_id=TENANT)
        assert summary.last is not None
        self.turns, self.until = summary.imported, summary.last + timedelta(days=1)

    def remember(self, **limits: Any) -> dict[str, Counter[str]]:
        """Build memory from the log; return the counts of the stages that call the model. Stop if the model fails."""
        patience: dict[str, Any] = {"backoff_s": 0.01, "attempts": 2, "timeout_s": 1.0, "concurrency": 4} | limits
        model = HostedLanguageModel("openai/ours", api_base=self.asked.address, limits=Limits(**patience), price=PRICE)
        common: dict[str, Any] = {
            "scope": Scope(tenant_id=TENANT), "policy": load_policy("reverie"), "embedder": Noise(),
            "language_model": model,
        }  # fmt: skip
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        with Store.open(self.url) as store:
            try:
                for stage in (
                    ingest(Work(store=store, as_of=self.until, **common)),
                    catch_up(Work(store=store, as_of=self.until, **common)),
                ):
                    for report in stage:
                        if report.counts.get("asked"):
                            told = report.counts | {"calls": report.model_calls, "tokens": report.tokens}
                            counts[report.stage].update(told)
            except (InferenceError, UnansweredError):
                counts["all"]["stopped"] += 1
        return counts

    def forget(self, *, replies: bool) -> None:
        """Delete memory, and optionally the stored replies."""
        forget_all(self.url)
        with connect(self.url) as conn:
            conn.execute("delete from ops.calls")
            if replies:
                conn.execute("delete from ops.replies")

    def digest(self) -> str:
        with Store.open(self.url) as store:
            return str(digest(store, TENANT))


@contextmanager
def world(subject: str | None = None) -> Iterator[World]:
    """Set up the sample or one of its subjects, with Postgres and the scripted server in separate processes."""
    os.environ.setdefault("OPENAI_API_KEY", "none")
    with server() as url, serving() as asked, tempfile.TemporaryDirectory() as folder:
        lines = SAMPLE.read_text(encoding="utf-8").splitlines(keepends=True)
        history = Path(folder) / "history.jsonl"
        own = (line for line in lines if subject is None or json.loads(line)["subject_id"] == subject)
        history.write_text("".join(own), encoding="utf-8")
        yield World(url, asked, history)


def asking(there: World) -> None:
    """Print calls and tokens by stage, with and without batches, and again from stored replies."""
    rows: list[tuple[str, ...]] = []
    saved: list[tuple[str, ...]] = []
    digests = set()
    for batch in (1, 10):
        there.forget(replies=True)
        there.asked.manner(counted=True)
        counts = there.remember(per_request=batch)
        digests.add(there.digest())
        for stage, of_stage in counts.items():
            rows.append((stage, str(batch), *(f"{of_stage[name]:,}" for name in ("asked", "calls", "tokens")),
                         *(f"{100 * of_stage[name] / there.turns:,.1f}" for name in ("calls", "tokens"))))  # fmt: skip
        there.forget(replies=False)
        again = there.remember(per_request=batch)
        digests.add(there.digest())
        first, second = (sum(each["calls"] for each in found.values()) for found in (counts, again))
        kept = sum(each["kept"] for each in again.values())
        saved.append((str(batch), f"{first:,}", f"{second:,}", f"{kept:,}"))
    print_table(
        f"Asked about {there.turns} turns",
        ("stage", "items a request", "items", "calls", "tokens", "calls / 100 turns", "tokens / 100 turns"),
        rows,
    )
    print_table(
        "The same log made into memory again",
        ("items a request", "calls at first", "calls in the rebuild", "replies taken from what was kept"),
        saved,
    )
    print(f"The four memories have {len(digests)} digest{'s' if len(digests) > 1 else ''} between them.")


def going_wrong(there: World, every: int) -> None:
    """Measure each fault at a given rate, once per request and repeatedly."""
    rows: list[tuple[str, ...]] = []
    for fault in FAULTS:
        for stubborn in (False, True):
            there.forget(replies=True)
            there.asked.manner(counted=True, fault=fault, every=every, stubborn=stubborn)
            found = there.remember()
            total = sum(found.values(), Counter())
            failed = {name.removeprefix("failed_"): n for name, n in total.items() if n and name.startswith("failed_")}
            left_out = {name.removeprefix("discarded_"): n for name, n in total.items() if name in JUDGED and n}
            asked = max(total["asked"], 1)
            shares = (total["repaired"], total["asked_again"], sum(failed.values()))
            stopped = ["a stage stops, and is retried"] if total["stopped"] else []
            reasons = ", ".join([*sorted(failed), *stopped])
            rows.append(
                (fault, "always" if stubborn else "once", f"{total['asked']:,}")
                + tuple(f"{number / asked:.0%}" for number in shares)
                + (reasons, ", ".join(f"{n} {reason}" for reason, n in left_out.items()))
            )
    print_table(
        f"One of {every} requests goes wrong",
        (
            "fault",
            "how often",
            "items asked",
            "repaired",
            "asked again",
            "failed: rules stand",
            "reason",
            "notes left out",
        ),
        rows,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=3)
    options = parser.parse_args()
    print(machine())
    with world() as there:
        asking(there)
    with world(SUBJECT) as there:
        going_wrong(there, options.every)


if __name__ == "__main__":
    main()
