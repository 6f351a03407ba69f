"""A run over a copy of a tenant, in a temporary database: it shows the exact effect, and changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from reverie.evaluate.ranking.scratch import scratch_database
from reverie.evaluate.retrieval.rebuilt import copy_tenant
from reverie.store.work import Work


@contextmanager
def rehearsal(work: Work) -> Iterator[Work]:
    """Yield the work over a temporary copy of its tenant, without a language model.

    It takes the time of the run and of copying the tenant, and needs the extra `embedded`.
    """
    with scratch_database(None) as copy:
        copy_tenant(work.store, copy, work.tenant_id)
        yield replace(work, store=copy, language_model=None, is_rehearsal=True)
