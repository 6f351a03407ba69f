"""What a language model claims of turns beside what is found in them without it; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from reverie.consolidate.extract.agreement import states_the_same
from reverie.consolidate.extract.claimed import claim_candidates
from reverie.consolidate.extract.claims import judge_claims, says_no_more
from reverie.consolidate.extract.decide import decide_turns, turns_frame
from reverie.consolidate.extract.reading import read_messages
from reverie.evaluate.distill.replied import RepliedTurn
from reverie.language.text import CountTokens
from reverie.model import Candidate
from reverie.policy import Policy


class TurnExample(NamedTuple):
    """A turn that the reader and a language model read."""

    #: Who said it: people are held back as a whole.
    subject_id: str
    #: How sure the reader is of it, by its own confidence, and the signs by which a head tells.
    sureness: float
    signs: tuple[float, ...]
    #: How many statements are found without the model, how many it claims, and how many of both are the same.
    found: int
    claimed: int
    same: int

    @property
    def errors(self) -> int:
        """How many statements only one of the two has."""
        return self.found + self.claimed - 2 * self.same


def turn_examples(
    turns: Sequence[RepliedTurn], tenant_id: str, policy: Policy, count_tokens: CountTokens
) -> list[TurnExample]:
    """Return the turns that the reader reads, with what it and patterns find in them and what the model claims."""
    frame = turns_frame([turn.row for turn in turns])
    read = read_messages(frame, policy)
    found: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in decide_turns(frame, tenant_id, policy, count_tokens, read=read).candidates:
        found[str(candidate.turn_id)].append(candidate)
    examples = []
    for each in turns:
        if (turn_id := str(each.turn.id)) in read.sureness:
            sureness, signs = read.sureness[turn_id]
            counts = _counts(each, found[turn_id], tenant_id, policy)
            examples.append(TurnExample(each.turn.subject_id, sureness, signs, *counts))
    return examples


def _counts(replied: RepliedTurn, found: Sequence[Candidate], tenant_id: str, policy: Policy) -> tuple[int, int, int]:
    """How many statements are found, how many are claimed, and how many are both.

    A claim that says no more than what a pattern found in the same words is known, and so both.
    """
    judged = judge_claims(replied.turn, replied.reply, policy)
    claims = claim_candidates(replied.turn, judged.accepted, tenant_id, policy, replied.model, b"")
    known = min(judged.discarded["known"], len(found))
    left, same = list(found), 0
    for claim, accepted in zip(claims, judged.accepted, strict=True):
        match = next((one for one in left if _is_both(claim, accepted.text, one, replied.turn.text, policy)), None)
        if match is not None:
            left.remove(match)
            same += 1
    return len(found), len(claims) + known, same + min(known, len(left))


def _is_both(claim: Candidate, said: str, known: Candidate, text: str, policy: Policy) -> bool:
    """Whether a claim says what was found: by what both state, or by words where one of them states nothing."""
    if claim.statement is not None and known.statement is not None:
        return states_the_same(claim, known, policy)
    return says_no_more(said, known.content, text) or says_no_more(known.content, said, text)
