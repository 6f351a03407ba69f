"""`make demo`: a history goes through the whole of Reverie, and a report says what came of it."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # assets/ and resources/ are loaded from the checkout

from dagster import DagsterInstance  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.markup import escape  # noqa: E402
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: E402

from deployments.history import materialize_history, materialize_marts  # noqa: E402
from deployments.ui import dagster_environment  # noqa: E402
from examples import demo_report as report  # noqa: E402
from reverie.capture.history.importing import FileOptions, import_file  # noqa: E402
from reverie.capture.history.reading import FORMATS  # noqa: E402
from reverie.consolidate.stages import NAMES  # noqa: E402
from reverie.errors import InputError, ReverieError  # noqa: E402
from reverie.evaluate.funnel import entities, funnel, last_said  # noqa: E402
from reverie.evaluate.worded import worded, worded_of  # noqa: E402
from reverie.inference import Embedder, load_embedder  # noqa: E402
from reverie.language.cues.summarise import SpokenTurn, summarise  # noqa: E402
from reverie.policy import load_policy, policy_reference  # noqa: E402
from reverie.recall.inspect import show_subject  # noqa: E402
from reverie.recall.query import RecallQuery  # noqa: E402
from reverie.recall.recall import log_recall, recall  # noqa: E402
from reverie.settings import Settings, load_settings  # noqa: E402
from reverie.store.clock import set_clock  # noqa: E402
from reverie.store.connect import connect  # noqa: E402
from reverie.store.database import Store  # noqa: E402
from reverie.store.migrate import migrate  # noqa: E402
from reverie.store.server.address import database_url  # noqa: E402
from reverie.store.session import perform  # noqa: E402

SAMPLE = ROOT / "examples" / "sample_history.jsonl"
#: Replies that were written down for the sample: what a language model adds, without one.
RECORDED = ROOT / "examples" / "recorded.jsonl"
#: What is asked of the sample: a change of mind, a number that came of decisions, a person and his dog.
SAMPLE_QUESTIONS = (
    ("arjun", "Does he still drink coffee?"),
    ("mumbai-bakery", "Do recipe posts do better than news posts?"),
    ("dana", "Which Jira project do new tickets go to?"),
)
SAMPLE_SUBJECT = "arjun"
#: Where the sample's clock stands, in README too. It is between two cycles, so that no later tick counts a recall at
#: that time and the sample stays the same.
SAMPLE_TIME = datetime(2026, 6, 30, 9, tzinfo=UTC)
#: Options of `reverie import` as the Makefile names them.
PASSED_ON = ("map", "timezone", "time-format", "subject", "start", "format")
MAKE = {f"--{name} ": f"{name.upper().replace('-', '_')}=" for name in PASSED_ON}


def main() -> int:
    """Run the demo; a user's error is one sentence and an exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=SAMPLE, help="a JSONL, CSV or Parquet log of your own")
    parser.add_argument("--map", action="append", default=[], metavar="OURS=THEIRS", help="--map of `reverie import`")
    parser.add_argument("--timezone", metavar="ZONE", help="time zone of times without an offset")
    parser.add_argument("--subject", metavar="NAME", help="subject of all records, if the log names none")
    parser.add_argument("--format", choices=FORMATS, help="format of the log; by default detected from its content")
    parser.add_argument(
        "--start", type=datetime.fromisoformat, metavar="TIME", help="time of the first record of a log without times"
    )
    parser.add_argument("--model", help="`recorded`, or a language model as REVERIE_LANGUAGE_MODEL takes it")
    parser.add_argument("--time-format", metavar="FORMAT", help="--time-format of `reverie import`")
    parser.add_argument("--marts", action="store_true", help="build the marts with dbt as well")
    options = parser.parse_args()
    if options.model:
        name = f"recorded/{RECORDED}" if options.model == "recorded" else options.model
        os.environ["REVERIE_LANGUAGE_MODEL"] = name
    # a pipe has no width of its own, and 80 columns cut memories short
    console = Console() if sys.stdout.isatty() else Console(width=112)
    try:
        run(console, options.data.resolve(), import_options(options), with_marts=options.marts)
    except ReverieError as error:
        Console(stderr=True).print(f"[red]Error:[/] {escape(in_make(str(error)))}", highlight=False)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


def import_options(options: argparse.Namespace) -> dict[str, Any]:
    """What the import is told about the log."""
    pairs = [pair.partition("=")[::2] for text in options.map for pair in text.split()]
    if wrong := [ours for ours, theirs in pairs if not (ours and theirs)]:
        raise InputError(f"MAP takes pairs such as subject_id=user role:customer=user, not {wrong[0]!r}.")
    start = options.start
    if start is not None and start.tzinfo is None:
        start = start.replace(tzinfo=UTC)
    return {
        "mapping": dict(pairs),
        "timezone": options.timezone,
        "subject": options.subject,
        "format": options.format,
        "start": start,
        "time_format": options.time_format,
    }


def run(console: Console, path: Path, how: dict[str, Any], *, with_marts: bool) -> None:
    """Import, consolidate and report."""
    settings = load_settings()
    tenant = "demo" if path == SAMPLE else f"demo-{path.name.split('.')[0]}"
    if settings.language_model != "none":
        tenant += f"-{settings.language_model.split('/')[0]}"  # beside what the rules alone made
    began = time.perf_counter()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("Postgres and schema", total=None)
        url = database_url(settings)
        migrate(url)
        with Store.open(url) as store:
            progress.update(task, description="Importing", total=path.stat().st_size if path.is_file() else None)
            if path == SAMPLE:
                how["mapping"] = {"tenant_id": "NONE"}  # the sample names its own
            summary = import_file(
                store, path, FileOptions(**how), tenant_id=tenant, policy=policy_reference(settings.policy),
                on_progress=lambda read: progress.update(task, completed=read),
            )  # fmt: skip
            until = last_said(store, tenant)
            if until is None:
                raise InputError(
                    f"No turn of {path.name} could be read. {in_make(summary.cure or '')} "
                    f"`.venv/bin/reverie dead-letters list --tenant {tenant}` says more."
                )
            # the history has ended: later ticks of schedules must not let it fade
            as_of = SAMPLE_TIME if tenant == "demo" else until + timedelta(hours=6)
            with store.transaction(tenant) as conn:
                set_clock(conn, tenant, as_of)
        # the runs are kept where `make ui` finds them
        os.environ.update(dagster_environment(settings, url))
        for step, done, total in materialize_history(as_of, DagsterInstance.get()):
            progress.update(task, description=f"Dagster: {step}", completed=done, total=total)
    wall = time.perf_counter() - began
    embedder = load_embedder(settings.embedding_model, threads=settings.threads)
    with Store.open(url) as store, Store.open(url, role="reader") as reader:
        console.rule(f"[bold]Reverie[/]  tenant {tenant}, with its clock stopped at {as_of:%Y-%m-%d %H:%M}")
        report.print_import(console, summary, in_make)
        report.print_funnel(console, summary, funnel(store, tenant))
        console.print()
        subject = SAMPLE_SUBJECT if path == SAMPLE else funnel(store, tenant).subjects[0][0]
        print_memory(console, reader, settings, tenant, subject, as_of)
        print_added(console, store, settings, tenant, subject, path)
        for about, question in questions(store, tenant, path, subject):
            print_answer(console, reader, settings, tenant, about, question, as_of, embedder)
        console.print()
        if with_marts:
            with console.status("Building the marts with dbt"):
                materialize_marts(as_of, DagsterInstance.get())
            print_marts(console, url, tenant)
        report.print_stages(console, funnel(store, tenant), NAMES, wall)
        console.print()
        report.print_next(console, next_steps(tenant, subject))


def in_make(sentence: str) -> str:
    """Replace the options in a sentence by the variables of `make demo`."""
    for option, variable in MAKE.items():
        sentence = sentence.replace(option, variable)
    return sentence


def questions(store: Store, tenant: str, path: Path, subject: str) -> list[tuple[str, str]]:
    """Return three questions: fixed ones about the sample, otherwise about the subject's most frequent entities."""
    if path == SAMPLE:
        return list(SAMPLE_QUESTIONS)
    labels = [label for _, label, _ in entities(store, tenant, subject, limit=3)]
    return [(subject, f"What about {label}?") for label in labels] or [(subject, "What matters to them?")]


def print_memory(
    console: Console, reader: Store, settings: Settings, tenant: str, subject: str, as_of: datetime
) -> None:
    """Print a subject's memory."""
    policy = load_policy(settings.policy)
    report.print_subject(
        console, show_subject(reader, tenant_id=tenant, subject_id=subject, policy=policy, as_of=as_of)
    )
    console.print()


def print_added(console: Console, store: Store, settings: Settings, tenant: str, subject: str, path: Path) -> None:
    """Print what the language model added, if there is one."""
    if settings.language_model == "none":
        return
    report.print_worded(console, worded(store, tenant))
    found = worded_of(store, tenant, subject, limit=report.SHOWN_WORDED)
    numbers = load_policy(settings.policy)
    for kind, text, session in found:
        by_rules = None
        if kind == "summary" and path == SAMPLE:
            turns = [one for one in map(json.loads, SAMPLE.open(encoding="utf-8")) if one["session_id"] == session]
            lines = [SpokenTurn(speaker=one["speaker"], text=one["text"]) for one in turns if "text" in one]
            compress = numbers.compress
            by_rules = summarise(
                lines, number=compress.summary_sentences, weights=compress.summary, salience=numbers.salience
            )
        report.print_text(console, kind, text, by_rules)
    console.print()


def print_answer(
    console: Console, reader: Store, settings: Settings, tenant: str, subject: str, question: str, as_of: datetime,
    embedder: Embedder,
) -> None:  # fmt: skip
    """Print a recall with its explanation. Like every recall, it is logged and counts as an access."""
    policy = load_policy(settings.policy)
    session = reader.session(tenant)
    query = RecallQuery(text=question, subject_id=subject, as_of=as_of)
    found = perform(recall(session, query, policy=policy, embedder=embedder))
    report.print_recall(console, found)
    perform(log_recall(session, found))


#: What the data team's marts say of a tenant, as docs/marts.md has it.
GROWTH = """
    select to_char(day, 'YYYY-MM'), sum(turns), sum(added), sum(merged), sum(rewritten), sum(compressed),
           sum(superseded), sum(forgotten), (array_agg(memories order by day desc))[1]
    from marts.memory_growth where tenant_id = %s group by 1 order by 1"""
AGES = """
    select age, sum(memories), sum(never_used), sum(lasting), sum(due_in_30_days),
           sum(mean_importance * memories) / sum(memories)
    from marts.memory_ages where tenant_id = %s group by age_from_days, age order by age_from_days"""


def print_marts(console: Console, url: str, tenant: str) -> None:
    """Print what data teams read: growth by month, and what is remembered by age."""
    with connect(url, role="analyst") as conn:
        report.print_growth(console, conn.execute(GROWTH, [tenant]).fetchall())
        console.print()
        report.print_ages(console, conn.execute(AGES, [tenant]).fetchall())
    console.print()


def next_steps(tenant: str, subject: str) -> list[tuple[str, str]]:
    """Return commands to continue with."""
    at = f"--tenant {tenant}"
    return [
        ("make ui", "the same pipeline in Dagster: graph, runs, checks, plots; it then builds the marts"),
        ("make demo DATA=your.jsonl", "your own log, or a ChatGPT or Slack export (see docs/importing.md)"),
        ("make marts", "the tables that data teams read, built with dbt (docs/marts.md); `make docs` describes each"),
        (
            "make demo MODEL=recorded",
            "what a language model adds, with recorded replies: no key, no cost",
        ),
        (f".venv/bin/reverie recall 'your question' -s {subject} {at} --why", "a recall with its explanation"),
        (f".venv/bin/reverie show {subject} {at}", "the subject's memory; use the ids with `explain` and `undo`"),
        (
            f".venv/bin/reverie clock {at} --run",
            "starts this tenant's clock, which is stopped at the end of the sample",
        ),
        (".venv/bin/reverie policy show contact", "a policy's numbers: copy it, change it, then `reverie policy use`"),
    ]


if __name__ == "__main__":
    sys.exit(main())
