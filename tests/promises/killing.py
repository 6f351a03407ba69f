"""A process that runs the whole pipeline and kills itself with SIGKILL at a chosen moment of its work.

A moment lies before or after a statement, within a COPY, or before or after a commit; they are counted in the thread
that does the work, so the same number is the same moment in every process that starts from the same database.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from reverie.capture.history.importing import import_file
from reverie.drive.cycle import catch_up, ingest
from reverie.store.database import Store
from reverie.store.work import Work
from tests.promises import compact
from tests.promises.world import WordEmbedder, scope

#: Where moments lie, each before and after.
_WATCHED: tuple[tuple[type[Any], str, str], ...] = (
    (psycopg.Cursor, "execute", "statement"),
    (psycopg.Connection, "commit", "commit"),
    (psycopg.Copy, "__exit__", "copy"),
)


@dataclass
class Moments:
    """Counts moments, remembers them, and kills the process at one."""

    kill_at: int | None = None
    kinds: list[str] = field(default_factory=list)

    def pass_by(self, kind: str) -> None:
        """A moment has come."""
        if threading.current_thread() is threading.main_thread():  # the pool opens connections in threads of its own
            self.come(kind)

    def come(self, kind: str) -> None:
        """Count it, and die if it is the one."""
        self.kinds.append(kind)
        if len(self.kinds) == self.kill_at:
            self.die()

    def die(self) -> None:
        """End the process at once."""
        os.kill(os.getpid(), signal.SIGKILL)

    def watch(self) -> None:
        """Count from now on, in this process for good."""
        for owner, name, kind in _WATCHED:
            setattr(owner, name, self._around(owner, name, kind))

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Count within a `with` block."""
        with pytest.MonkeyPatch.context() as patch:
            for owner, name, kind in _WATCHED:
                patch.setattr(owner, name, self._around(owner, name, kind))
            yield

    def _around(self, owner: type[Any], name: str, kind: str) -> Callable[..., Any]:
        original: Callable[..., Any] = getattr(owner, name)

        def wrapped(*arguments: Any, **named: Any) -> Any:
            self.pass_by(f"before {kind}")
            result = original(*arguments, **named)
            self.pass_by(f"after {kind}")
            return result

        return wrapped


def work(url: str, history: Path, kill_at: int | None = None, trace: Path | None = None) -> None:
    """Import, ingest and catch up; to `trace` goes each moment as [stage, kind, whether that run did anything]."""
    moments = Moments(kill_at=kill_at)
    policy, embedder = compact.policy(), WordEmbedder()
    common: dict[str, Any] = {"scope": scope(compact.TENANT), "policy": policy, "embedder": embedder}
    told: list[tuple[str, str, bool]] = []

    def label(stage: str, busy: bool) -> None:
        told.extend((stage, kind, busy) for kind in moments.kinds[len(told) :])

    with Store.open(url, size=1) as store:
        moments.watch()
        import_file(store, history, tenant_id=compact.TENANT, now=compact.UNTIL)
        label("import", True)
        for reports in (
            ingest(Work(store=store, as_of=compact.UNTIL, **common)),
            catch_up(Work(store=store, as_of=compact.UNTIL, **common)),
        ):
            for report in reports:
                label(report.stage, any(report.counts.values()))
    if trace:
        trace.write_text(json.dumps(told))
