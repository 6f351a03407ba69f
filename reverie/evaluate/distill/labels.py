"""Claims of a language model about turns, next to the statements found without it; pure."""

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
    """A turn that both the reader and a language model have read."""

    #: The person who said it; each person is held back as a whole.
    subject_id: str
    #: The reader's own confidence in it, and the signs that a head reads.
    sureness: float
    signs: tuple[float, ...]
    #: Number of statements found without the model, of its claims, and of those that are the same.
    found: int
    claimed: int
    same: int

    @property
    def errors(self) -> int:
        """The number of statements that only one of the two has."""
        return self.found + self.claimed - 2 * self.same


def turn_examples(
    turns: Sequence[RepliedTurn], tenant_id: str, policy: Policy, count_tokens: CountTokens
) -> list[TurnExample]:
    """Return the turns that the reader reads, comparing statements of reader and patterns with the model's claims."""
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
    """Return how many statements are found, how many are claimed, and how many are both.

    A claim that says no more than a pattern found in the same words is known, so it counts as both.
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
    """Return whether a claim says the same as a candidate: by their statements, or by words if one has none."""
    if claim.statement is not None and known.statement is not None:
        return states_the_same(claim, known, policy)
    return says_no_more(said, known.content, text) or says_no_more(known.content, said, text)
