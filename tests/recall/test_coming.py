"""The block of events to come."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from reverie.recall.contexts.coming import coming_up_block
from reverie.recall.profile import Profile
from reverie.recall.relationship import Relationship
from tests.recall.test_calendar import DENTIST


def test_events_are_told_with_their_day_where_the_subject_is() -> None:
    profile = Profile(
        subject_id="ana",
        facts=(),
        recent=(),
        relationship=Relationship(stage="new", sessions=0, days=0, streak=0),
        as_of=datetime(2026, 3, 15, 23, 30, tzinfo=UTC),
        upcoming=(
            DENTIST,
            replace(DENTIST, title="Exam\n# Not a heading", zone="Asia/Kolkata"),
            replace(DENTIST, title="Moving to Pune", who="karan"),
            replace(DENTIST, title="Moving to Pune", speaker="Ben", who=None),
            replace(DENTIST, title="Karan's birthday", who="Karan", yearly=True),
        ),
    )
    block = coming_up_block(profile, "COMING UP:")
    assert block.text(block.lines).splitlines() == [
        "COMING UP:",
        "- tomorrow, Monday 16 March 2026 at 15:00: Dentist, second floor; bring the x-ray",
        "- today, Monday 16 March 2026 at 15:00: Exam # Not a heading",
        "- tomorrow, Monday 16 March 2026 at 15:00: Karan: Moving to Pune",
        "- tomorrow, Monday 16 March 2026 at 15:00: Ben: Moving to Pune",
        "- tomorrow, Monday 16 March 2026 at 15:00 (every year): Karan's birthday",
    ]
    assert [line.ids for line in block.lines] == [(DENTIST.turn_id,)] * 5
    assert block.lines[0].worth > block.lines[1].worth
