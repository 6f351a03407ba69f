"""What a model is asked over the sample history, and what of it has no recorded reply yet.

    python examples/record.py --missing todo.jsonl     writes a line for each question that has no recorded reply
    python examples/record.py --add todo.jsonl         takes the lines with a `reply`, drops what is asked no more

Replies shape memory, and memory shapes later questions: repeat until nothing is missing. The report counts what the
stages made of the replies; a reply that a check refuses shows as `asked_again` and `failed_<reason>`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from reverie.capture.history.importing import import_file  # noqa: E402
from reverie.drive.cycle import catch_up, ingest  # noqa: E402
from reverie.inference import load_embedder  # noqa: E402
from reverie.inference.completions import Completion, Limits  # noqa: E402
from reverie.inference.prompts import Messages  # noqa: E402
from reverie.inference.recorded import RecordedLanguageModel, asked_items, load_recorded, recording_key  # noqa: E402
from reverie.model import Scope  # noqa: E402
from reverie.policy import load_policy  # noqa: E402
from reverie.store.database import Store  # noqa: E402
from reverie.store.migrate import migrate  # noqa: E402
from reverie.store.server.embedded import EmbeddedPostgres  # noqa: E402
from reverie.store.work import Work  # noqa: E402

SAMPLE = ROOT / "examples" / "sample_history.jsonl"
RECORDED = ROOT / "examples" / "recorded.jsonl"
TENANT = "demo"


@dataclass
class Listening:
    """The recordings, and what they are asked."""

    model: RecordedLanguageModel
    #: (shape, content) by key of what was asked for.
    asked: dict[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The recordings'."""
        return self.model.key

    @property
    def limits(self) -> Limits:
        """The recordings'."""
        return self.model.limits

    def complete(self, messages: Messages, *, schema: dict[str, Any], max_tokens: int) -> Completion:
        """Answer if it is recorded. Raises CallError."""
        for _, content in asked_items(messages):
            self.asked[recording_key(schema["title"], content)] = (schema["title"], content)
        return self.model.complete(messages, schema=schema, max_tokens=max_tokens)

    def most_usd(self, messages: Messages, *, max_tokens: int) -> float:
        """Nothing."""
        return self.model.most_usd(messages, max_tokens=max_tokens)


def main() -> None:
    """Run the sample and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--missing", type=Path, help="write what has no reply here")
    parser.add_argument("--add", type=Path, help="take replies from here first")
    options = parser.parse_args()
    recordings = read(RECORDED)
    if options.add:
        recordings |= {key: one for key, one in read(options.add).items() if one.get("reply")}
        write(RECORDED, recordings)
    model = Listening(load_recorded(RECORDED, limits=Limits(concurrency=1)))
    counts = remember(model)
    for (stage, name), number in sorted(counts.items()):
        print(f"{stage:12} {name:24} {number:6,}")
    missing = {key: asked for key, asked in model.asked.items() if key not in recordings}
    print(f"{len(model.asked):,} questions, {len(missing):,} without a reply")
    if options.missing:
        write(options.missing, {key: {"shape": shape, "key": key, "content": content, "reply": None}
                                for key, (shape, content) in missing.items()})  # fmt: skip
    if options.add:
        write(RECORDED, {key: one for key, one in recordings.items() if key in model.asked})


def remember(model: Listening) -> Counter[tuple[str, str]]:
    """Make memory of the sample in a database of its own; return the counts by stage."""
    counts: Counter[tuple[str, str]] = Counter()
    embedder, policy = load_embedder("minilm"), load_policy("reverie")
    with database() as url, Store.open(url) as store:
        last = import_file(store, SAMPLE, tenant_id=TENANT).last
        assert last is not None
        until = last + timedelta(hours=6)  # as the demo
        common: dict[str, Any] = {
            "scope": Scope(tenant_id=TENANT), "policy": policy, "embedder": embedder, "language_model": model
        }  # fmt: skip
        for report in (
            *ingest(Work(store=store, as_of=until, **common)),
            *catch_up(Work(store=store, as_of=until, **common)),
        ):
            if report.model_calls or report.counts.get("asked"):
                counts.update({(report.stage, name): number for name, number in report.counts.items()})
    return counts


@contextmanager
def database() -> Iterator[str]:
    """A migrated database that goes again."""
    with tempfile.TemporaryDirectory(prefix="reverie_record_") as folder:
        Path(folder).chmod(0o711)  # the server may run as another user
        server = EmbeddedPostgres(Path(folder) / "postgres", durable=False)
        server.start()
        try:
            url = server.url("reverie")
            migrate(url)
            yield url
        finally:
            server.stop()


def read(path: Path) -> dict[str, dict[str, Any]]:
    """Recordings by key."""
    return {one["key"]: one for one in map(orjson.loads, path.read_bytes().splitlines())}


def write(path: Path, recordings: Mapping[str, dict[str, Any]]) -> None:
    """One line a recording, in a lasting order."""
    ordered = sorted(recordings.values(), key=lambda one: (one["shape"], one["key"]))
    path.write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in ordered))


if __name__ == "__main__":
    main()
