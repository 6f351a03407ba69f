"""The language model's step of the mood chain: called within a request, no longer than the policy allows
(Contact 4.1, spec A5).

The limit covers the look-up of kept replies, the booking, the request itself and reading the reply. A late request
runs on, so that its cost is known and its reply kept; it does not change a mood that was already returned.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from threading import BoundedSemaphore, Thread
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, create_model

from reverie.inference.completions import LanguageModel
from reverie.inference.prompts import Prompt, load_prompt, load_whole_prompt
from reverie.inference.replies import Reply
from reverie.language.cues.mood import Energy, Missed, Mood, Style
from reverie.llm.asking import ModelCaller, ask
from reverie.llm.inputs import PromptInput
from reverie.llm.metering import Payer
from reverie.model import Turn
from reverie.policy.live import MoodName, MoodPolicy, MoodPromptName
from reverie.store.database import Store
from reverie.store.session import TenantSession

#: Characters of a message that the model sees; moods do not need more.
_SHOWN = 2_000
#: Tokens of a reply: three words and their names.
_MAX_TOKENS = 60


def _lower(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


_AnyCase: Final = BeforeValidator(_lower)


class MoodReply(Reply):
    """What the model says of a message: the three words of the seed's prompt."""

    mood: Annotated[MoodName, _AnyCase]
    energy: Annotated[Energy, _AnyCase]
    style: Annotated[Style, _AnyCase]


#: Determines which of the policy's moods a turn has, by the policy's prompt, until a time of `time.monotonic`. None or
#: any exception: no answer.
Call = Callable[[Turn, float, MoodPolicy], MoodReply | None]


@cache
def mood_prompt(moods: tuple[MoodName, ...], name: MoodPromptName = "mood") -> Prompt[MoodReply]:
    """Return the prompt of this name with these moods; a reply with another mood is invalid."""
    mood: Any = Annotated[Literal[moods], _AnyCase]
    reply = create_model("MoodReply", __base__=MoodReply, mood=(mood, ...))
    reply.__doc__ = MoodReply.__doc__
    if name == "mood_seed":
        return load_whole_prompt(name, reply, max_tokens=_MAX_TOKENS, moods="|".join(moods))
    named = f"{', '.join(moods[:-1])} or {moods[-1]}" if moods[1:] else moods[0]
    return load_prompt(name, reply, max_tokens=_MAX_TOKENS, moods=named)


def asking(store: Store, model: LanguageModel) -> Call:
    """Return the call that asks a language model: one request, booked like any other, under the stage `mood`.

    A message that the subject sent before, word for word, is answered from the kept replies. There is no answer if the
    shared pace has no slot free, credit is missing, or the reply cannot be used.
    """

    def call(turn: Turn, until: float, numbers: MoodPolicy) -> MoodReply | None:
        prompt = mood_prompt(numbers.moods, numbers.prompt)
        message = PromptInput(subject_id=turn.subject_id, content={"message": turn.text[:_SHOWN]}, source_ids=[turn.id])
        caller = ModelCaller(store=store, payer=Payer(tenant_id=turn.tenant_id, stage="mood"), until=until)
        return ask(caller, model, prompt, [message])[0].reply

    return call


@dataclass(frozen=True, slots=True)
class Coming:
    """A pending mood."""

    answer: Future[Mood | Missed]
    #: The time from which it is late, by `time.monotonic`.
    until: float

    async def wait(self, session: TenantSession) -> Mood | Missed:
        """Wait for the rest of the limit. Raises TimeoutError."""
        return await session.wait(self.answer, self.until - time.monotonic())


class MoodModel:
    """A call that determines moods, a limited number at once; safe to share between threads."""

    def __init__(self, call: Call, *, calls: int = 16) -> None:
        """`calls`: the limit of calls under way, late ones included; beyond it a mood is late at once."""
        self._call, self._calls, self._free = call, calls, BoundedSemaphore(calls)

    def begin(self, turn: Turn, numbers: MoodPolicy) -> Coming:
        """Ask for the mood of a turn, within the policy's limit from now. Never waits and never raises."""
        coming = Coming(Future(), time.monotonic() + numbers.model_timeout_ms / 1000)
        if not self._free.acquire(blocking=False):
            coming.answer.set_result("late")
            return coming
        # a daemon, so that a model that hangs does not keep the process from ending
        Thread(target=self._tell, args=(turn, coming, numbers), name="mood-model", daemon=True).start()
        return coming

    def close(self, seconds: float) -> None:
        """Wait up to this many seconds for the calls under way, and close."""
        until = time.monotonic() + seconds
        for _ in range(self._calls):
            self._free.acquire(timeout=max(until - time.monotonic(), 0))

    def _tell(self, turn: Turn, coming: Coming, numbers: MoodPolicy) -> None:
        told: Mood | Missed = "failed"
        try:
            reply = self._call(turn, coming.until, numbers)
            if reply is not None:
                told = Mood(mood=reply.mood, energy=reply.energy, style=reply.style, confidence=None, method="model")
        except Exception:  # the chain goes on; not logged, since an error may quote the message
            told = "failed"
        finally:
            self._free.release()
            coming.answer.set_result(told)
