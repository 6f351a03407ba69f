"""Context utilisation: the share of injected items that the reply used (Agent 8.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np

from reverie.evaluate.retrieval.references import content_words
from reverie.inference import Vectors, from_half_wire
from reverie.policy import EvaluationPolicy
from reverie.store.database import Store
from reverie.store.queries import queries


@dataclass(frozen=True, kw_only=True, slots=True)
class Utilisation:
    """The number of injected items, and of those that replies used."""

    #: Number of contexts and recalls with a reply, and of the items in them whose text still exists.
    replies: int
    items: int
    used: int
    #: Number of items used by words, and by vector; an item can be both.
    by_words: int
    by_vector: int

    @property
    def rate(self) -> float | None:
        """Used / items, 0 to 1; None if nothing was injected before a reply.

        Known error, measured on labelled answers (docs/evaluating.md): 60 % of used items are missed if the reply has
        only a few words, and 9 % of unused ones count. It is a lower bound: compare it, do not read it alone.
        """
        return self.used / self.items if self.items else None


def used_by_words(item: str, message: str, reply: str, numbers: EvaluationPolicy) -> bool:
    """Return whether a reply has content words of an item that the message lacks: `used_words`, or all if it has fewer.

    Words of the message are left out, since a reply repeats them anyway.
    """
    told = content_words(item) - content_words(message)
    return bool(told) and len(told & content_words(reply)) >= min(numbers.used_words, len(told))


def used_by_vector(item: Vectors | None, reply: Vectors | None, numbers: EvaluationPolicy) -> bool:
    """Return whether any part of an item is near any part of the reply: cosine of at least `used_similarity`.

    Shape of each: (parts, dimensions), unit vectors; None: there is no vector.
    """
    return item is not None and reply is not None and float((item @ reply.T).max()) >= numbers.used_similarity


def context_utilisation(
    store: Store, tenant_id: str, *, as_of: datetime, numbers: EvaluationPolicy, model: str | None
) -> Utilisation:
    """Measure the latest contexts and recalls, at most `numbers.questions`, by the items that still have a text.

    A recall that fills a context counts as well as the context.
    """
    sql = queries("conduct")
    params = {"tenant": tenant_id, "as_of": as_of, "minutes": numbers.reply_minutes, "limit": numbers.questions}
    with store.transaction(tenant_id) as conn:
        injected = conn.execute(sql["injected"], params).fetchall()
        ids = list({id_ for _, items, *_ in injected for id_ in items})
        texts = dict(conn.execute(sql["item_texts"], {"tenant": tenant_id, "ids": ids}).fetchall())
        with_replies = [*ids, *{reply_id for *_, reply_id, _ in injected}]
        vectors = _vectors(
            conn.cursor(binary=True)
            .execute(sql["item_vectors"], {"tenant": tenant_id, "model": model or "", "ids": with_replies})
            .fetchall()
        )
    judged = [
        (
            used_by_words(texts[item], message or "", reply, numbers),
            used_by_vector(vectors.get(item), vectors.get(reply_id), numbers),
        )
        for _, items, message, reply_id, reply in injected
        for item in items
        if texts.get(item)
    ]
    return Utilisation(
        replies=len(injected),
        items=len(judged),
        used=sum(any(each) for each in judged),
        by_words=sum(words for words, _ in judged),
        by_vector=sum(vector for _, vector in judged),
    )


def _vectors(rows: Sequence[tuple[UUID, bytes]]) -> Mapping[UUID, Vectors]:
    """Return the vectors of each item, one row for each part."""
    if not rows:
        return {}
    matrix = from_half_wire([row[1] for row in rows])
    places: dict[UUID, list[int]] = {}
    for place, (id_, _) in enumerate(rows):
        places.setdefault(id_, []).append(place)
    return {id_: np.asarray(matrix[some], np.float32) for id_, some in places.items()}
