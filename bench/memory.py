"""Is memory right, current and worth keeping? The figures of issue 14, part by part.

    python -m bench.memory [sentences|histories|facts|convai|prefeval|speed|sample ...] [--part dev|more|held]

Without a name, runs all parts except `sample`. `bench/README.md` explains each. Reads `bench/sets` and, if a part needs
it, `../shared/data`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from bench import memory_texts as texts
from bench.rules import DATA

#: Parts that need the public data sets.
NEEDS_DATA = ("facts", "convai", "prefeval", "speed", "sample")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[[], "sentences", "histories", *NEEDS_DATA])
    parser.add_argument("--part", choices=("dev", "more", "held"), default="dev", help="of the sets in bench/sets")
    parser.add_argument("--policy", default="reverie")
    parser.add_argument("--sets", nargs="+", choices=("locomo", "realtalk"), default=["locomo", "realtalk"])
    parser.add_argument("--count", type=int, default=120, help="memories of each set in the sample")
    parser.add_argument("--live-step", type=int, default=7, help="every how many histories are also run live")
    parser.add_argument("--verbose", action="store_true", help="show what is not right")
    given = parser.parse_args()
    for part in given.parts or ["sentences", "histories", "facts", "convai", "prefeval", "speed"]:
        if part in NEEDS_DATA and not DATA.is_dir():
            print(f"{part}: needs ../shared/data, which is not here")
        else:
            run(part, given)


def run(part: str, given: argparse.Namespace) -> None:
    """Print the figures of a part."""
    from bench import memory_facts as from_data
    from bench import memory_histories as of_histories

    work: dict[str, Callable[[], None]] = {
        "sentences": lambda: texts.sentences(given.part, given.policy, given.verbose),
        "histories": lambda: of_histories.histories(given.part, given.policy, given.verbose, given.live_step),
        "facts": lambda: from_data.facts(given.policy),
        "convai": lambda: texts.convai_figures(given.policy),
        "prefeval": lambda: texts.prefeval(given.policy),
        "speed": lambda: texts.speed(given.policy),
        "sample": lambda: from_data.sample(given.sets, given.count, given.policy),
    }
    work[part]()


if __name__ == "__main__":
    main()
