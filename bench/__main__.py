"""`make bench`: every bench in turn, each with its floor or peer in the same run.

    python -m bench [NAME ...] [--write bench/README.md]

Prints a report or, with --write, writes it to a file, with the machine and the versions of packages.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from bench.report import machine

ROOT = Path(__file__).resolve().parent.parent
#: The question that each bench answers, in the order of the report.
BENCHES = {
    "retrieval": "Does it find what was said? Evidence turns of labelled questions, through the whole pipeline.",
    "messages": "Does it find what bears on a message or request? Beside bare vectors, BM25 and a plain fusion.",
    "evaluate": "How long does an evaluation of 1,000 questions take, and how often does context utilisation err?",
    "rules": "What do the rules find, how precisely and how fast?",
    "memory": "Is what is remembered right and current? Sentences, histories, facts covered.",
    "ended": "Which statements still stand though a later message ends them? Over the labelled voices.",
    "keeping": "Does what follows reading keep perfect statements right? Current, ended, merged, untouched, patterns.",
    "sensitivity": "Are sensitive sentences recognised, those written before the rules and those written after?",
    "unsure": "How many calls of a language model does the reader save, and at what agreement?",
    "summaries": "How much of a reader's summary do session summaries say, beside the first and random sentences?",
    "merge_quality": "Are the right memories merged, and the wrong ones kept apart?",
    "pipeline": "How fast is a history turned into memory, beside the bare embedder?",
    "recall": "How fast is an answer, beside one hand-written hybrid statement?",
    "api": "How fast does the API answer, beside bare handlers in the same server? And for ten minutes of mixed load?",
    "agents": "How fast does an agent recall over MCP, by HTTP and stdio, beside the plain HTTP client?",
    "freshness": "How soon after its acknowledgement is a turn recalled elsewhere, under the mixed load of `api`?",
    "decay": "How fast does importance fade, beside the best batched UPDATE?",
    "prune": "How fast is forgetting, beside one statement that deletes the same rows?",
    "merge": "How fast are duplicates merged, beside a SQL self-join and a matrix product?",
    "signals": "How fast are signals made of a million turns, and how right are alerts of silence?",
    "drain": "How fast does one worker drain ten thousand sessions that are due at once, and in how much memory?",
    "memory_of_import": "How much memory does importing a million turns take?",
    "moving": "How long do 100,000 memories of mem0 take to come in, to be worked in, and to go out?",
    "on_ray": "How much faster are two Ray workers than one at extracting and embedding?",
    "marts": "How long do the marts of a million memories take to build, and to bring up to date after a day?",
    "subjects": "What do ten times the subjects cost a cycle in which just as much is said?",
    "rebuild": "What does a rebuild beside the live memory cost, beside pg_restore? And a diff, a publish, a revert?",
    "sizes": "What does a memory take on the disk?",
    "startup": "How fast does the command line answer?",
    "mood": "How well are moods told and crises found?",
    "llm": "What is a language model asked, what do kept replies save, and what becomes of bad ones?",
    "embed": "How fast is the bare embedder?",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *BENCHES], help="only these")
    parser.add_argument("--write", type=Path, help="write the report here")
    options = parser.parse_args()
    pieces = [f"# Figures\n\nMade on {datetime.now(UTC):%Y-%m-%d} by `make bench` on {machine()}.\n"]
    for name in options.names or BENCHES:
        pieces.append(f"\n## {name}\n{BENCHES[name]} (`bench/{name}.py`)\n\n{output_of(name)}\n")
        print(pieces[-1], flush=True)
    if options.write:
        options.write.write_text("".join(pieces), encoding="utf-8")


def output_of(name: str) -> str:
    """Run a benchmark in a separate process and return its output. A failure is printed; the others still run."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / f"{name}.py")],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done.stdout.strip() if done.returncode == 0 else f"Failed with exit status {done.returncode}."


if __name__ == "__main__":
    main()
