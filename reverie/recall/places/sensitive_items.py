"""The sensitive classes of a message and its candidates by their stored vectors: one statement, by key."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from uuid import UUID

from reverie.inference import Vectors, from_half_wire, to_half_wire
from reverie.language.sensitive.vectors import sensitive_by_vector
from reverie.policy.sensitivity import SensitiveClass
from reverie.recall.places.replacements import Candidates
from reverie.recall.places.sensitive import VectorClasses
from reverie.store.queries import queries
from reverie.store.session import Statement, TenantSession


async def read_vector_classes(
    session: TenantSession,
    candidates: Candidates,
    vector: Vectors | None,
    *,
    subject_id: str,
    model: str | None,
    among: int,
) -> VectorClasses:
    """Return the classes of the message with this vector, shape (dimensions,), and of the best `among` candidates.

    Without a vector nothing is read and nothing has a class; nor has anything if the vector is of another model than
    the classifier's. An item of several parts has the classes of all of them.
    """
    passing = [hit.id for hit, reason in candidates if reason is None]
    ids = list(islice(passing, among))
    if vector is None or model is None or not ids:
        return VectorClasses()
    message = sensitive_by_vector(from_half_wire([to_half_wire(vector[None])[0].tobytes()])[0], model)
    params = {"tenant": session.tenant_id, "subject": subject_id, "ids": ids, "model": model}
    rows = await session.run(Statement(queries("places")["vectors"], params))
    items: dict[UUID, frozenset[SensitiveClass]] = defaultdict(frozenset)
    for (item_id, _), each in zip(rows, from_half_wire([row[1] for row in rows]), strict=True):
        items[item_id] |= sensitive_by_vector(each, model)
    return VectorClasses(message, {item_id: classes for item_id, classes in items.items() if classes})
