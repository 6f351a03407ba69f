"""The passes over the ranked candidates of an answer, in the order in which they run: see `PASSES`.

Each pass is a pure function of the ranking and of `Placing`, which was read before. It has a name, by which a policy
leaves it out (`[recall] without`), and words for what it did to a hit's place, which the hit tells (`Hit.moves`).
`reverie evaluate --ablate` measures what each is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from reverie.language.objects import read_object
from reverie.policy import RecallPolicy
from reverie.policy.recall import PassName
from reverie.recall.places.asked import asked_first
from reverie.recall.places.budget import summaries_last, within_budget
from reverie.recall.places.currency import by_currency, later_first, with_ends
from reverie.recall.places.moves import Moves, with_moves
from reverie.recall.places.read import Former
from reverie.recall.places.same import one_place_each
from reverie.recall.question import ParsedQuestion
from reverie.recall.result import Drop, Hit, drop


class Placed(NamedTuple):
    """Hits, best first, and what was dropped on the way."""

    hits: list[Hit]
    dropped: list[Drop]


@dataclass(frozen=True, kw_only=True, slots=True)
class Placing:
    """What passes know beside the ranking."""

    question: ParsedQuestion
    numbers: RecallPolicy
    #: What of each hit no longer holds.
    formers: Mapping[UUID, Sequence[Former]]
    #: Memories that state what is asked for.
    stated: Sequence[Hit]
    #: Whether what no search found may be added.
    may_add: bool
    top_k: int
    token_budget: int
    count_tokens: Callable[[str], int]


class Pass(NamedTuple):
    """One pass."""

    #: None: a policy cannot leave it out.
    name: PassName | None
    #: Whether it has anything to do.
    applies: Callable[[Placing], bool]
    place: Callable[[list[Hit], Placing], Placed]
    moves: Moves = Moves()


def placed(hits: list[Hit], known: Placing) -> Placed:
    """Return the ranked candidates after all passes that the policy does not leave out."""
    dropped: list[Drop] = []
    for each in PASSES:
        if each.name in known.numbers.without or not each.applies(known):
            continue
        after, gone = each.place(hits, known)
        hits = with_moves(hits, after, each.moves)
        dropped += gone
    return Placed(hits, dropped)


def _kinds(hits: list[Hit], known: Placing) -> Placed:
    left_out = known.numbers.without_kinds
    kept = [hit for hit in hits if hit.kind not in left_out]
    return Placed(kept, [drop(hit, "kind") for hit in hits if hit.kind in left_out])


def _ends(hits: list[Hit], known: Placing) -> Placed:
    return Placed([with_ends(hit, known.formers.get(hit.id, ())) for hit in hits], [])


def _changes(hits: list[Hit], known: Placing) -> Placed:
    numbers, question = known.numbers, known.question
    changed = later_first(
        hits, question.text, speakers=question.speakers, changes=numbers.changes, margin=numbers.change_margin
    )
    return Placed(changed, [])


def _currency(hits: list[Hit], known: Placing) -> Placed:
    return Placed(by_currency(hits, known.formers, may_add=known.may_add), [])


def _relation(hits: list[Hit], known: Placing) -> Placed:
    return Placed(asked_first(hits, known.stated, may_add=known.may_add), [])


def _overview(hits: list[Hit], known: Placing) -> Placed:
    return Placed(summaries_last(hits), [])


def _one_place(hits: list[Hit], known: Placing) -> Placed:
    asked = frozenset(read_object(known.question.text).words)
    return Placed(*one_place_each(hits, longest_turn=known.numbers.longest_turn, asked=asked))


def _budget(hits: list[Hit], known: Placing) -> Placed:
    fitting = within_budget(
        hits,
        top_k=known.top_k,
        token_budget=known.token_budget,
        count_tokens=known.count_tokens,
        procedural_first=known.numbers.procedural_first,
    )
    return Placed(*fitting)


PASSES: tuple[Pass, ...] = (
    # kinds that the policy leaves out (`[recall] without_kinds`)
    Pass(None, lambda known: bool(known.numbers.without_kinds), _kinds),
    # a question about the past is told what was so, and until when
    Pass("ends", lambda known: known.question.asks_former, _ends),
    # a question about now: what says that something changed stands before what is as good and earlier
    Pass(
        "changes",
        lambda known: known.question.asks_present and not known.question.asks_former,
        _changes,
        Moves(up="moved up: says that something changed", down="moved down: something changed since"),
    ),
    # what holds stands before what it replaced, and is added where it was not found
    Pass(
        "currency",
        lambda known: not known.question.asks_former,
        _currency,
        Moves(up="moved up: holds now", down="moved down: no longer holds", added="added: holds now"),
    ),
    # what states the relation that is asked for stands first
    Pass(
        "relation",
        lambda known: not known.question.asks_former,
        _relation,
        Moves(
            up="moved up: states what is asked for",
            down="moved down: does not state what is asked for",
            added="added: states what is asked for",
        ),
    ),
    # summaries stand last unless an overview is asked for
    Pass(
        "overview",
        lambda known: not known.question.asks_overview,
        _overview,
        Moves(
            up="moved up: said in words, not in a summary",
            down="moved down: a summary, and no overview is asked for",
        ),
    ),
    # what was said several times has one place; what gives up its place is dropped with a reason
    Pass("one_place", lambda known: True, _one_place),
    # as many as are asked for and fit; the others are dropped with a reason
    Pass(None, lambda known: True, _budget),
)
