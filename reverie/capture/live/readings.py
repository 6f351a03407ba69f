"""Rules applied to turns within a request: candidates and signs of a crisis, in this process or another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass

from reverie.errors import InferenceError
from reverie.language.cues.crisis import signs_of
from reverie.language.cues.immediate import TurnCandidates, extract_candidates
from reverie.language.text import CountTokens
from reverie.model import Turn
from reverie.policy import Policy
from reverie.store.session import TenantSession

#: Characters up to which turns are read in the server's process: a few milliseconds at most, whatever the text.
SHORT_REQUEST = 1_000
#: Seconds after which an endless reading is given up; a request's own deadline is shorter.
_LONGEST_SECONDS = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The findings of the rules in one turn."""

    noticed: TurnCandidates
    #: Names of the signs of a crisis in a user's message.
    signs: tuple[str, ...]


#: Starts to read turns in another process, so that the caller only waits.
BeginReading = Callable[[Sequence[Turn], Policy], Future[list[Reading]]]


def read_turns(turns: Sequence[Turn], policy: Policy, count_tokens: CountTokens) -> list[Reading]:
    """Apply the rules to turns, in their order: up to 10 microseconds per character."""
    return [_read(turn, policy, count_tokens) for turn in turns]


async def apply_rules(
    session: TenantSession,
    turns: Sequence[Turn],
    policy: Policy,
    count_tokens: CountTokens,
    begin: BeginReading | None,
) -> list[Reading]:
    """Read turns, long ones by `begin` if it is set. A reading is cancelled if the caller stops waiting for it."""
    if begin is None or not is_long(turns):
        return read_turns(turns, policy, count_tokens)
    future = begin(turns, policy)
    try:
        return await session.wait(future, _LONGEST_SECONDS)
    except BrokenExecutor as error:
        raise InferenceError("The process that reads long texts has ended; another one is started.") from error
    finally:
        future.cancel()


def is_long(turns: Sequence[Turn]) -> bool:
    """Return whether turns are too long to be read in the server's process."""
    return sum(map(_characters, turns)) > SHORT_REQUEST


def _read(turn: Turn, policy: Policy, count_tokens: CountTokens) -> Reading:
    heard = turn.role == "user" and policy.crisis.detect
    return Reading(
        noticed=extract_candidates(turn, policy, count_tokens),
        signs=signs_of(turn.text, policy.crisis.phrases) if heard else (),
    )


def _characters(turn: Turn) -> int:
    """Return the number of characters to read; tool calls are counted as they are printed."""
    return len(turn.text) + sum(len(str(call)) for call in turn.tool_calls)
