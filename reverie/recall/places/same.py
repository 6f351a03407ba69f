"""Gives repeats one place, and a memory one place with the turn that it was made of; pure."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from reverie.language.objects import read_object
from reverie.language.pack import language_table
from reverie.recall.result import Drop, Hit, drop

_PACK = language_table("same")

#: Punctuation of sentences and of Markdown, which is no part of a word. Signs such as in `C++`, `-5` and `€50` are.
_PUNCTUATION = ".,;:!?…—()[]{}\"'`“”„‘’«»*_¡¿।。、！？，；：（）「」"
#: Signs between words or at the start of a line, which alone are no word.
_LONE_SIGNS = "-–—‐‑−&/|•·#"
#: Words that do not change the meaning.
_FILLERS = _PACK.word_set("fillers")
#: Fewest words to compare: shorter texts are answers, in which the same words may mean different things.
_LEAST_WORDS = 3
#: Fewest content words that a turn must have, and its memory lack, for the turn to say more.
_MORE_WORDS = 3


def one_place_each(
    ranked: Sequence[Hit], *, longest_turn: int, asked: frozenset[str] = frozenset()
) -> tuple[list[Hit], list[Drop]]:
    """Return ranked hits with one place for each thing, and the hits that gave up theirs.

    Hits with the same words take the place of the best, in their latest wording, with how often and since when they
    were said. Of a memory and the turn that it was made of, whichever ranks higher, the memory is given. The turn is
    given instead if it has at most `longest_turn` words and says more or gave other memories that were found too, or if
    it has a word of `asked`, the content words of the question, that the memory lacks.
    """
    groups: list[list[Hit]] = []
    places: dict[object, list[Hit]] = {}
    for hit in ranked:
        keys = [key for key in (hit.turn_id or hit.id, _words(hit)) if key]
        group = next((places[key] for key in keys if key in places), None)
        if group is None:
            groups.append(group := [])
        group.append(hit)
        for key in keys:
            places.setdefault(key, group)
    kept, dropped = [], list[Drop]()
    for group in groups:
        if len(group) == 1:
            kept.append(group[0])
            continue
        shown = _shown(group, longest_turn, asked)
        kept.append(_standing_for(shown, group))
        origin = shown.turn_id or shown.id
        dropped += [
            drop(hit, "same_turn" if (hit.turn_id or hit.id) == origin else "same")
            for hit in group
            if hit.id != shown.id
        ]
    return kept, dropped


def _words(hit: Hit) -> tuple[str, ...] | None:
    """Return the words by which hits are the same; None for too few."""
    stripped = (word.strip(_PUNCTUATION).casefold() for word in hit.content.split())
    words = [word for word in stripped if word.strip(_LONE_SIGNS) and word not in _FILLERS]
    return tuple(words) if len(words) >= _LEAST_WORDS else None


def _shown(group: Sequence[Hit], longest_turn: int, asked: frozenset[str]) -> Hit:
    best = group[0]
    turn_id = best.turn_id if best.item == "memory" else best.id
    memory = next((hit for hit in group if hit.item == "memory" and hit.turn_id == turn_id), None)
    turn = next((hit for hit in group if hit.item == "turn" and hit.id == turn_id), None)
    if memory is not None and turn is not None:
        is_better = (
            _tells_all(turn, group, longest_turn)
            or says_more(turn.content, memory.content, longest_turn)
            or names_more(turn, memory, asked)
        )
        best = turn if is_better else memory
    words = _words(best)
    same = [hit for hit in group if hit.item == best.item and (hit.id == best.id or (words and _words(hit) == words))]
    return max(same, key=lambda hit: hit.happened_at)


def says_more(turn: str, memory: str, longest: int) -> bool:
    """Return whether a turn of at most `longest` words has content that a memory made of it lacks."""
    if len(turn.split()) > longest:
        return False
    return len(set(read_object(turn).words) - set(read_object(memory).words)) >= _MORE_WORDS


def _tells_all(turn: Hit, group: Sequence[Hit], longest: int) -> bool:
    """Return whether a turn of at most `longest` words gave several memories: one that ended, one in its place."""
    made = {_words(hit) or hit.id for hit in group if hit.item == "memory" and hit.turn_id == turn.id}
    return len(made) > 1 and len(turn.content.split()) <= longest


def names_more(turn: Hit, memory: Hit, asked: frozenset[str]) -> bool:
    """Return whether a turn has a word of the question that its memory lacks."""
    return not asked.isdisjoint(
        frozenset(read_object(turn.content).words) - frozenset(read_object(memory.content).words)
    )


def _standing_for(shown: Hit, group: Sequence[Hit]) -> Hit:
    """Return a hit in the place of the best of its group, with how often it was said."""
    best, first = group[0], min(hit.happened_at for hit in group)
    turns: set[UUID] = {hit.turn_id or hit.id for hit in group}
    return shown._replace(
        score=best.score,
        signals=best.signals,
        ranks=best.ranks,
        times=len(turns),
        first_at=first if len(turns) > 1 else None,
    )
