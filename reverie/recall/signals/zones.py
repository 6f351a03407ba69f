"""The time zones that a subject's messages name, in which its days are told (docs/signals.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from reverie.model import require_aware
from reverie.policy.signals import is_zone
from reverie.store.queries import queries
from reverie.store.session import Statement


@dataclass(frozen=True, kw_only=True, slots=True)
class Zones:
    """Where a subject was when: the zones that its messages named, each from a UTC day on, in order."""

    #: The policy's, in force before the first.
    usual: str
    named: tuple[tuple[date, str], ...] = ()

    def local(self, at: datetime) -> datetime:
        """Return a time in the zone that was then the latest: an evening in Auckland is of its own day."""
        day = at.date()
        here = next((zone for since, zone in reversed(self.named) if since <= day), self.usual)
        return at.astimezone(ZoneInfo(here))


def zones_statement(tenant_id: str, subject_id: str, as_of: datetime) -> Statement[tuple[date, str]]:
    """Return the statement that reads the zones of a subject, to be sent with others; `read_zones` takes its rows."""
    params = {"tenant": tenant_id, "subject": subject_id, "as_of": require_aware(as_of)}
    return Statement(queries("context")["zones"], params)


def read_zones(rows: Iterable[tuple[date, str]], usual: str) -> Zones:
    """Return the zones of a subject; names that are no time zone are left out."""
    return Zones(usual=usual, named=tuple((day, zone) for day, zone in rows if is_zone(zone)))
