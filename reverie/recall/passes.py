"""The passes over the ranked candidates of an answer, in the order in which they run: see `PASSES`.

Each pass is a pure function of the ranking and of `Placing`, which is read beforehand. A policy can leave out a pass by
its name (`[recall] without`). A hit lists, in words, what each pass did to its place (`Hit.moves`).
`reverie evaluate --ablate` measures the worth of each pass.
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
from reverie.recall.result import Drop, Hit, NearbyTurn, drop


class Placed(NamedTuple):
    """Hits, best first, and the candidates dropped on the way."""

    hits: list[Hit]
    dropped: list[Drop]


@dataclass(frozen=True, kw_only=True, slots=True)
class Placing:
    """The data that passes need besides the ranking."""

    question: ParsedQuestion
    numbers: RecallPolicy
    #: By hit, its statements that no longer hold.
    formers: Mapping[UUID, Sequence[Former]]
    #: Memories that state the relation asked for.
    stated: Sequence[Hit]
    #: By memory, a later message that may have ended its statement.
    doubts: Mapping[UUID, NearbyTurn]
    #: Whether memories that no search found may be added.
    may_add: bool
    top_k: int
    token_budget: int
    count_tokens: Callable[[str], int]


class Pass(NamedTuple):
    """A pass over the ranking."""

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


def _doubts(hits: list[Hit], known: Placing) -> Placed:
    return Placed([hit._replace(doubt=known.doubts.get(hit.id)) for hit in hits], [])


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
    # a question about the past: hits say which of their statements ended, and when
    Pass("ends", lambda known: known.question.asks_former, _ends),
    # a question about now: hits that mention a change go before earlier hits that score about as well
    Pass(
        "changes",
        lambda known: known.question.asks_present and not known.question.asks_former,
        _changes,
        Moves(up="moved up: says that something changed", down="moved down: something changed since"),
    ),
    # statements in force go before those that they replaced, and are added if no search found them
    Pass(
        "currency",
        lambda known: not known.question.asks_former,
        _currency,
        Moves(up="moved up: holds now", down="moved down: no longer holds", added="added: holds now"),
    ),
    # hits that state the relation asked for go first
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
    # a statement that a later message may have ended says so, with that message
    Pass("doubts", lambda known: bool(known.doubts), _doubts),
    # summaries go last unless an overview is asked for
    Pass(
        "overview",
        lambda known: not known.question.asks_overview,
        _overview,
        Moves(
            up="moved up: said in words, not in a summary",
            down="moved down: a summary, and no overview is asked for",
        ),
    ),
    # repeats share one place; the others are dropped with a reason
    Pass("one_place", lambda known: True, _one_place),
    # as many hits as are asked for and fit the budget; the others are dropped with a reason
    Pass(None, lambda known: True, _budget),
)
