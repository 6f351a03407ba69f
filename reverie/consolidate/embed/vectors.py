"""Vectors of texts that the cache lacks: each text is embedded once per tenant and model, by its content hash."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from reverie.consolidate.isolate import apart
from reverie.inference import to_half_wire
from reverie.inference.completions import CallError
from reverie.llm.metering import Payer, limited_subjects, metered_embedding
from reverie.store.queries import queries
from reverie.store.runs import Run


@dataclass(slots=True, kw_only=True)
class NewVectors:
    """Vectors of texts that the cache lacked."""

    #: Content hashes, and the vectors as halfvecs in Postgres's binary format.
    hashes: list[bytes] = field(default_factory=list)
    wires: Iterable[Any] = ()
    #: Number of texts that the cache lacked and the tokenizer could count, without unpaid ones; and their tokens, with
    #: those of repeated requests for which the provider may charge as well.
    missing: int = 0
    tokens: int = 0
    #: Errors of texts without a vector, by content hash.
    failed: dict[bytes, Exception] = field(default_factory=dict)
    #: Hashes of texts that their subject's credit does not cover; they wait for the next run.
    unpaid: set[bytes] = field(default_factory=set)


def encode_missing(attempt: Run, texts: Mapping[bytes, str], subjects: Mapping[bytes, str]) -> NewVectors:
    """Embed those of `texts` (by content hash) that the cache lacks. A dry run asks no model.

    `subjects` has the subject of each text: texts of a subject with its own credit are embedded and booked separately.
    No connection is held while the model works. Raises CallError if the tenant's credit does not cover the call.
    """
    work = attempt.work
    embedder = work.embedder
    params = {"tenant": work.tenant_id, "model": embedder.model, "hashes": list(texts)}
    with work.transaction() as conn:
        uncached = [row[0] for row in conn.execute(queries("embed")["find_uncached"], params)]
        limited = limited_subjects(conn, work.tenant_id) if embedder.price_per_token else frozenset()
    counts, uncounted = apart(uncached, lambda some: {hash_: embedder.count_tokens(texts[hash_]) for hash_ in some})
    new = NewVectors(failed=dict(uncounted))
    by_payer: dict[str | None, list[bytes]] = {}
    for hash_ in counts:
        by_payer.setdefault(subjects[hash_] if subjects[hash_] in limited else None, []).append(hash_)
    for subject_id, hashes in by_payer.items():
        try:
            _encode(attempt, subject_id, {hash_: texts[hash_] for hash_ in hashes}, counts, new)
        except CallError as error:
            if subject_id is None or error.reason not in ("credit", "unpriced"):
                raise
            new.unpaid.update(hashes)
    return new


def _encode(
    attempt: Run, subject_id: str | None, texts: Mapping[bytes, str], counts: Mapping[bytes, int], new: NewVectors
) -> None:
    """Embed the texts of one payer and add them to `new`."""
    work, asked = attempt.work, [] if attempt.work.dry_run else list(texts)
    tokens = sum(counts[hash_] for hash_ in texts)
    payer = Payer(tenant_id=work.tenant_id, stage="embed", run_id=attempt.id, subject_id=subject_id)
    asked_texts = [texts[hash_] for hash_ in asked]
    with metered_embedding(work.ledger_of_calls, payer, work.embedder, asked_texts, tokens) as spent:
        (hashes, wires), unencoded = apart(
            asked, lambda some: (some, to_half_wire(work.embedder.encode([texts[hash_] for hash_ in some])))
        )
    new.hashes += hashes
    new.wires = chain(new.wires, wires)
    new.missing += len(texts)
    new.tokens += spent.number
    new.failed |= dict(unencoded)
