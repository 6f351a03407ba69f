"""The values that are in force after others are gone. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID


def revived(
    ended: Sequence[tuple[UUID, UUID]], gone: Sequence[tuple[UUID, datetime | None, UUID | None]]
) -> dict[str, list[Any]]:
    """Return the successor and end of each ended value (id, replaced by), with the gone values left out."""
    after = {id_: (valid_to, replaced_by) for id_, valid_to, replaced_by in gone}
    columns: dict[str, list[Any]] = {"ids": [], "valid_to": [], "replaced_by": []}
    for id_, successor in ended:
        valid_to: datetime | None = None
        replaced_by: UUID | None = successor
        while replaced_by in after:
            valid_to, replaced_by = after[replaced_by]
        for name, value in zip(columns, (id_, valid_to, replaced_by), strict=True):
            columns[name].append(value)
    return columns
