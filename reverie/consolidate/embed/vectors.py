"""Vectors of texts that the cache lacks: each text is embedded once a tenant and model, by its content hash."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reverie.consolidate.isolate import apart
from reverie.inference import to_half_wire
from reverie.llm.metering import Payer, metered_embedding
from reverie.store.queries import queries
from reverie.store.runs import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVectors:
    """Vectors of texts that the cache lacked."""

    #: Content hashes, and the vectors as halfvecs of Postgres's binary format.
    hashes: Sequence[bytes]
    wires: Iterable[Any]
    #: How many texts the cache lacked and the tokenizer could count, and their tokens.
    missing: int
    tokens: int
    #: Why a text has no vector, by content hash.
    failed: Mapping[bytes, Exception]


def encode_missing(attempt: Run, texts: Mapping[bytes, str]) -> NewVectors:
    """Embed those of `texts` (by content hash) that the cache lacks. A dry run asks no model.

    No connection is held while the model works. Raises CallError when the credit does not allow it.
    """
    work = attempt.work
    embedder = work.embedder
    params = {"tenant": work.tenant_id, "model": embedder.model, "hashes": list(texts)}
    with work.transaction() as conn:
        uncached = [row[0] for row in conn.execute(queries("embed")["find_uncached"], params)]
    counts, uncounted = apart(uncached, lambda some: {hash_: embedder.count_tokens(texts[hash_]) for hash_ in some})
    tokens, asked = sum(counts.values()), [] if work.dry_run else list(counts)
    payer = Payer(tenant_id=work.tenant_id, stage="embed", run_id=attempt.id)
    with metered_embedding(work.store, payer, embedder, [texts[hash_] for hash_ in asked], tokens):
        (hashes, wires), unencoded = apart(
            asked, lambda some: (some, to_half_wire(embedder.encode([texts[hash_] for hash_ in some])))
        )
    return NewVectors(
        hashes=hashes, wires=wires, missing=len(counts), tokens=tokens, failed=dict([*uncounted, *unencoded])
    )
