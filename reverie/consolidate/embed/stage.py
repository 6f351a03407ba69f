"""embed: turns and memories get vectors and terms, so that recall can find them.

Texts are embedded in batches, each text once per tenant and model. No connection is held while the model works.
"""

from __future__ import annotations

from collections.abc import Sequence

from reverie.consolidate.embed.decide import ItemText, ItemType, cut_items, types_to_embed
from reverie.consolidate.embed.read import unembedded_items
from reverie.consolidate.embed.vectors import encode_missing
from reverie.consolidate.embed.write import leave_unembedded, lock_subjects_of, write_cache, write_items
from reverie.consolidate.isolate import apart
from reverie.interruption import check_interruption
from reverie.model import Kind
from reverie.store.active_model import hold_active_model
from reverie.store.locks import is_unerased
from reverie.store.runs import Report, Run, run
from reverie.store.work import Work


def embed(
    work: Work,
    *,
    items: Sequence[ItemType] = ("turn", "memory"),
    kinds: Sequence[Kind] | None = None,
    switching: bool = False,
) -> Report:
    """Write missing vectors and terms; counts `turns`, `memories`, `parts`, and `calls_saved` by the cache.

    `kinds` limits the work to memories of these kinds. `switching`: the model is not the active one yet (`reembed`).
    Turns are left out if the policy does not recall them.

    Raises:
        SettingsError: the tenant's memory is embedded by another model.
    """
    with run(work, "embed") as attempt:
        attempt.report.model = work.embedder.model
        for name in ("turns", "memories", "parts", "calls_saved"):
            attempt.report.add(name, 0)
        for item_type in items:
            if item_type not in types_to_embed(work.policy):
                continue
            while not _embed_type(attempt, item_type, kinds, switching):
                attempt.forget_unrecorded()
        attempt.settle()
    return attempt.report


def _embed_type(attempt: Run, item_type: ItemType, kinds: Sequence[Kind] | None, switching: bool) -> bool:
    """Embed the items of a type; return False if an erasure in the meantime means that the rest must be read again."""
    work = attempt.work
    for portion in unembedded_items(work, item_type, kinds=kinds, switching=switching):
        if not _embed(attempt, item_type, portion.items, switching, portion.erasures):
            return False
        check_interruption()
        work.progress("embed", portion.number)
    return True


def _embed(attempt: Run, item_type: ItemType, items: Sequence[ItemText], switching: bool, erasures: int) -> bool:
    """Embed and write items, and bury those that fail; return False if some may have been erased in the meantime."""
    work, report, embedder = attempt.work, attempt.report, attempt.work.embedder
    parts, uncut = apart(items, lambda some: cut_items(some, work.policy.chunk, embedder.count_tokens))
    new = encode_missing(
        attempt, {part.hash: part.text for part in parts}, {part.hash: part.item.subject_id for part in parts}
    )
    unpaid = {part.item for part in parts if part.hash in new.unpaid}
    if unpaid:
        report.add("failed_credit", len(unpaid))
        items = [item for item in items if item not in unpaid]
        parts = [part for part in parts if part.item not in unpaid]
    failed = dict(uncut) | {part.item: new.failed[part.hash] for part in parts if part.hash in new.failed}
    if failed:
        items = [item for item in items if item not in failed]
        parts = [part for part in parts if part.item not in failed]
    with work.transaction() as conn:
        if not is_unerased(conn, work.tenant_id, erasures):
            return False
        if not switching:
            hold_active_model(conn, work.tenant_id, embedder.model)
        lock_subjects_of(conn, work, items)
        write_cache(conn, work, new)
        write_items(conn, work, item_type, items, parts)
        report.add("turns" if item_type == "turn" else "memories", len(items))
        report.add("parts", len(parts))
        report.add("calls_saved", len(parts) - new.missing)
        for item, error in failed.items():
            attempt.bury(item.subject_id, item.id, error)
        if failed and item_type == "memory":
            leave_unembedded(conn, work, [item.id for item in failed])
        report.model_calls += bool(new.missing)
        report.tokens += new.tokens
        report.cost_usd += new.tokens * embedder.price_per_token
        attempt.record(conn)
    return True
