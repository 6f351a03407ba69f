"""The language model's step of the mood chain: any callable, with the policy's limit on its time (Contact 4.1)."""

import threading
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue

from pydantic import BaseModel, ConfigDict, ValidationError

from reverie.cues.mood import Energy, Missed, Mood, MoodName, Style

#: Calls that may be under way at once, late ones included; a model that hangs never holds more threads than these.
CALLS = 8


class Reply(BaseModel):
    """What the model must give: the three words of the seed's prompt; whatever else it says is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    mood: MoodName
    energy: Energy
    style: Style


class MoodModel:
    """A callable that tells the mood of a text, asked within a limit of time; safe to share between threads."""

    def __init__(self, call: Callable[[str], Mapping[str, object]], *, calls: int = CALLS) -> None:
        """`call` gets the message and returns `mood`, `energy` and `style`; it may raise whatever it likes."""
        self._call = call
        self._free = threading.BoundedSemaphore(calls)

    def ask(self, text: str, limit_ms: int) -> Mood | Missed:
        """The model's mood; `late` after `limit_ms`, or at once while all calls hang; `failed` for all else.

        A late call runs on in its thread and its answer is dropped: Python cannot stop it, so give the client behind
        `call` a timeout of its own.
        """
        if not self._free.acquire(blocking=False):
            return "late"
        answers: SimpleQueue[Mapping[str, object] | None] = SimpleQueue()

        def work() -> None:
            try:
                answers.put(self._call(text))
            except Exception:  # whatever a client raises, the chain goes on; the message may hold the text, so no log
                answers.put(None)
            finally:
                self._free.release()

        # a daemon, so that a model that hangs does not keep the process from ending
        threading.Thread(target=work, name="mood-model", daemon=True).start()
        try:
            answered = answers.get(timeout=limit_ms / 1000)
        except Empty:
            return "late"
        try:
            reply = Reply.model_validate(answered)
        except ValidationError:
            return "failed"
        return Mood(mood=reply.mood, energy=reply.energy, style=reply.style, confidence=None, method="model")
