"""How many requests a key may send: a sliding window, counted in memory by each process for itself."""

from __future__ import annotations

from uuid import UUID

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}


class Rate:
    """Requests a window, by key. Of the window before, the part that the last `seconds` still reach counts as well
    (https://blog.cloudflare.com/counting-things-a-lot-of-different-things, "sliding windows").
    """

    def __init__(self, rate: str) -> None:
        """`rate` is as the settings have it, such as `200/second`."""
        number, _, unit = rate.partition("/")
        self._most, self._seconds = int(number), _SECONDS[unit]
        self._window = 0.0
        self._sent: dict[UUID, int] = {}
        self._sent_before: dict[UUID, int] = {}

    def wait(self, key: UUID, at: float) -> float | None:
        """Count a request at a time in seconds and return None; or none, and return the seconds until one may come.

        Times never go back.
        """
        window, passed = divmod(at, self._seconds)
        if window != self._window:
            self._sent_before = self._sent if window == self._window + 1 else {}
            self._window, self._sent = window, {}
        sent, before, left = self._sent.get(key, 0), self._sent_before.get(key, 0), self._seconds - passed
        if sent + int(before * left / self._seconds) < self._most:
            self._sent[key] = sent + 1
            return None
        # in the next window these begin to go by; in this one, those of the window before do
        return left if sent >= self._most else left - self._seconds * (self._most - sent) / before
