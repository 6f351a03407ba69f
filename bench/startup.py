"""Wall time of commands: those that need nothing, and those that need only the database.

    python bench/startup.py [--rounds 10]

Goals: --help and --version below 0.3 s, commands that need only the database below 1.5 s. Peer: a bare interpreter.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.report import print_table
from reverie.store.migrate import migrate
from reverie.store.server.embedded import EmbeddedPostgres

SAMPLE = Path(__file__).resolve().parent.parent / "examples" / "sample_history.jsonl"
REVERIE = [sys.executable, "-m", "reverie"]
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "reverie --help": [*REVERIE, "--help"],
    "reverie --version": [*REVERIE, "--version"],
    "reverie show": [*REVERIE, "show", "arjun", "--tenant", "demo"],
    "reverie runs": [*REVERIE, "runs", "--tenant", "demo"],
    "reverie digest": [*REVERIE, "digest", "--tenant", "demo"],
    "reverie dead-letters list": [*REVERIE, "dead-letters", "list", "--tenant", "demo"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        server = EmbeddedPostgres(Path(folder) / "postgres", durable=False)
        server.start()
        try:
            url = server.url("reverie")
            migrate(url)
            environment = os.environ | {"DATABASE_URL": url}
            importing = [*REVERIE, "import", str(SAMPLE), "--tenant", "demo"]
            subprocess.run(importing, env=environment, check=True, capture_output=True)
            rows = [
                (name, f"{median(times):.2f}", f"{min(times):.2f}")
                for name, command in COMMANDS.items()
                for times in [[once(command, environment) for _ in range(options.rounds)]]
            ]
        finally:
            server.stop()
    print_table("Seconds from start to end", ("command", "median", "best"), rows)


def once(command: list[str], environment: dict[str, str]) -> float:
    """Run a command and return its wall time in seconds."""
    began = time.perf_counter()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
