"""distill: train the reader, on kept replies of a tenant's language model, to tell when the model would read the same.

The kept replies are weak labels: the model is not asked. A head is fitted on the turns of some people and compared with
the reader's own confidence on those of the others. It is adopted only if it is better beyond noise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from reverie.errors import InputError
from reverie.evaluate.distill.curve import CurvePoint, Gain, agreement_at, gain
from reverie.evaluate.distill.fitting import fitted_head
from reverie.evaluate.distill.labels import TurnExample, turn_examples
from reverie.evaluate.distill.replied import count_replied, replied_turns
from reverie.inference.reader import ReaderHead, shared_reader
from reverie.language.text import CountTokens
from reverie.policy import Policy
from reverie.store.database import Store
from reverie.store.small_models.reader_heads import KeptHead, adopt_head

#: One in this number of people is held back, by a hash of the subject.
_HELD_BACK = 3
#: Minimum number of people on either side of a comparison: fewer do not separate people's habits from chance.
_FEWEST_PEOPLE = 4
#: Shares of calls saved at which agreement is shown.
_SHARES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, kw_only=True, slots=True)
class HeadComparison:
    """A comparison of a head with the reader's own confidence, on held-back turns."""

    head: ReaderHead
    #: Number of turns that it was fitted on, of held-back turns, and of the people who said these.
    fitted: int
    turns: int
    people: int
    #: By the reader's own confidence and by the head, at the same shares; the first is that of the policy's `sure`.
    before: list[CurvePoint]
    after: list[CurvePoint]
    gain: Gain

    def figures(self) -> dict[str, Any]:
        """Return its numbers as JSON."""
        return {
            "fitted": self.fitted,
            "turns": self.turns,
            "people": self.people,
            "gain": self.gain._asdict(),
            "before": [point._asdict() for point in self.before],
            "after": [point._asdict() for point in self.after],
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Distillation:
    """The result of a distillation for a tenant."""

    #: Language models whose replies were read, and the number of turns with a reply.
    models: list[str]
    replies: int
    comparison: HeadComparison
    #: Whether the head was adopted.
    is_adopted: bool


def compare_head(examples: Sequence[TurnExample], policy: Policy) -> HeadComparison:
    """Fit a head on the turns of some people, and compare it on those of the held-back people.

    Raises:
        InputError: there are too few people on one side, or the two agree on all turns or on none.
    """
    sides: tuple[list[TurnExample], list[TurnExample]] = ([], [])
    for one in examples:
        sides[is_held_back(one.subject_id)].append(one)
    fitting, held = sides
    fewest = min(len({one.subject_id for one in side}) for side in sides)
    if fewest < _FEWEST_PEOPLE:
        raise InputError(
            f"The replies are about too few people: of {len({one.subject_id for one in examples})} {fewest} would be on"
            f" one side, and {_FEWEST_PEOPLE} are needed. One in {_HELD_BACK} is held back, by a hash of the subject."
        )
    if len({not one.errors for one in fitting}) < 2:
        raise InputError("The reader and the language model agree on all turns, or on none: there is nothing to learn.")
    head = fitted_head(fitting, shared_reader().model)
    before = np.array([one.sureness for one in held])
    after = np.array([head.sureness(one.signs) for one in held])
    shares = (float((before >= policy.extract.model.sure).mean()), *_SHARES)
    return HeadComparison(
        head=head,
        fitted=len(fitting),
        turns=len(held),
        people=len({one.subject_id for one in held}),
        before=[agreement_at(held, before, share) for share in shares],
        after=[agreement_at(held, after, share) for share in shares],
        gain=gain(held, before, after, policy.evaluation.confidence),
    )


def is_held_back(subject_id: str) -> bool:
    """Return whether a subject's turns are held back: the same in every tenant and every run."""
    return hashlib.sha256(subject_id.encode()).digest()[0] % _HELD_BACK == 0


def distill(
    store: Store,
    tenant_id: str,
    policy: Policy,
    *,
    count_tokens: CountTokens,
    at: datetime,
    least: int | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Distillation:
    """Fit a head on the kept replies of a tenant, and put it in force if it is better on the people held back.

    `at`: the time from which it is in force. `least`: the minimum number of replies, in place
    of the policy's `distill_replies`. `progress` is called with the number of turns read and their total.

    Raises:
        InputError: the policy does not use the reader, there are too few replies or people, or as `compare_head`.
    """
    there = _enough_replies(store, tenant_id, policy, least)
    examples: list[TurnExample] = []
    models: set[str] = set()
    read = 0
    for turns in replied_turns(store, tenant_id, policy):
        examples += turn_examples(turns, tenant_id, policy, count_tokens)
        models |= {turn.model for turn in turns}
        read += len(turns)
        progress(read, there)
    found = compare_head(examples, policy)
    if found.gain.is_real:
        with store.transaction(tenant_id) as conn:
            adopt_head(
                conn,
                tenant_id,
                KeptHead(
                    version=found.head.version,
                    reader=found.head.reader,
                    head=found.head.numbers(),
                    models=sorted(models),
                    replies=read,
                    figures=found.figures(),
                    made_at=at,
                ),
            )
    return Distillation(models=sorted(models), replies=read, comparison=found, is_adopted=found.gain.is_real)


def _enough_replies(store: Store, tenant_id: str, policy: Policy, least: int | None) -> int:
    """Return the number of turns with a kept reply; raise `InputError` if there are too few."""
    if not policy.extract.reader.read:
        raise InputError(f"Policy {policy.name} has no reader to train: set [extract.reader] read = true.")
    needed, there = least or policy.extract.model.distill_replies, count_replied(store, tenant_id)
    if there < needed:
        raise InputError(
            f"Tenant {tenant_id} has kept replies about {there:,} turns; the reader needs at least {needed:,}"
            " ([extract.model] distill_replies, or --least)."
        )
    return there
