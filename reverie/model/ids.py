"""Deterministic ids: the same thing has the same id in every run, rebuild and database."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from uuid import UUID

#: The highest place that `ordered_id` keeps in order: it uses the 12 bits between the time and the hash.
MOST_ORDERED = (1 << 12) - 1
_HASH_BITS = (1 << 80) - 1
_VERSION_8 = 8 << 76
_VARIANT = 2 << 62


def stable_id(at: datetime, *parts: str) -> UUID:
    """Return a UUIDv8 from an event time and the parts that identify the thing.

    The first 48 bits are the event time in Unix milliseconds, so ids sort by event time and are close in an index.
    The rest is a sha256 of the parts, so the same thing has the same id in every run, rebuild and database.
    """
    milliseconds = int(at.timestamp() * 1000) & ((1 << 48) - 1)
    digest = int.from_bytes(hashlib.sha256("\x1f".join(parts).encode()).digest()[:10], "big") & _HASH_BITS
    value = (milliseconds << 80) | digest
    value = value & ~(0xF << 76) | _VERSION_8
    value = value & ~(0x3 << 62) | _VARIANT
    return UUID(int=value)


def ordered_id(at: datetime, place: int, *parts: str) -> UUID:
    """Return an id as `stable_id` does; ids of the same time sort by `place`, from 0, up to `MOST_ORDERED`."""
    value = stable_id(at, *parts, str(place)).int
    return UUID(int=value & ~(MOST_ORDERED << 64) | min(place, MOST_ORDERED) << 64)


def bound_after(at: datetime) -> UUID:
    """Return the lowest id after every `stable_id` up to the millisecond of `at`; before 1970, the lowest id."""
    return UUID(int=max(int(at.timestamp() * 1000) + 1, 0) << 80)


def event_time(id_: UUID | str) -> datetime:
    """Return the event time of an id made by `stable_id`, to the millisecond, in UTC."""
    milliseconds = (id_ if isinstance(id_, UUID) else UUID(id_)).int >> 80
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
