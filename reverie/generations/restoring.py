"""A drill: makes memory again from the log alone, in its own database, and compares it with the live one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from reverie.drive.advance import advance
from reverie.drive.late import late_subjects
from reverie.drive.parallel import buckets, in_parallel
from reverie.errors import ReverieError
from reverie.generations.building import begin, build
from reverie.generations.catalog import Generation, GenerationPlan, LiveMemory, drop_generation, opened
from reverie.store.digest import Digest, digest
from reverie.store.runs import Report


class RestoreError(ReverieError):
    """Memory made again from the log alone differs from the live memory."""

    exit_code = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class RestoreDrill:
    """The result of a drill."""

    #: Digests of the live memory and of the restored one.
    live: Digest
    restored: Digest
    #: Subjects with late observations: their memory differs from a restored one until it is made again.
    late_subjects: int

    @property
    def differing(self) -> list[str]:
        """Names of the tables that differ."""
        return [name for name, table in self.restored.tables.items() if table != self.live.tables.get(name)]

    def require_same(self) -> None:
        """Raise RestoreError with the names of the tables that differ, if any do."""
        if self.differing:
            late = f" {self.late_subjects:,} subjects are late: run `reverie rebuild --late` first."
            late *= bool(self.late_subjects)
            raise RestoreError(f"The restored memory differs from the live one in {', '.join(self.differing)}.{late}")


def bring_live_up(live: LiveMemory) -> Iterator[Report]:
    """Consolidate the waiting part of the live log, as a cycle does, so that both memories have the same time."""
    yield from in_parallel(buckets(live.work.scope, live.jobs), lambda part: advance(replace(live.work, scope=part)))


def restore_beside(live: LiveMemory, plan: GenerationPlan) -> Iterator[Report | RestoreDrill]:
    """Make the memory again from the log, kept replies and cached vectors; yield reports, and the result last.

    Its database is dropped in any case.
    """
    yield from bring_live_up(live)
    generation = begin(live, plan, anew=True)
    try:
        yield from build(live, plan, generation)
        yield _compared(live, generation)
    finally:
        drop_generation(live, generation)


def _compared(live: LiveMemory, generation: Generation) -> RestoreDrill:
    with opened(live, generation) as store:
        restored = digest(store, live.tenant_id)
    return RestoreDrill(
        live=digest(live.work.store, live.tenant_id),
        restored=restored,
        late_subjects=len(late_subjects(live.work)),
    )
