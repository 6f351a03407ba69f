"""What a context is made of: of somebody unknown, nothing is told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from reverie.policy import load_policy
from reverie.recall.contexts.forms import lay_out
from reverie.recall.contexts.material import Chosen, Material, one_line_each
from reverie.recall.contexts.request import Given
from reverie.recall.profile import Profile
from reverie.recall.relationship import Relationship


def test_material_of_somebody_unknown_says_nothing_of_style_or_hard_times() -> None:
    known = Relationship(stage="building", sessions=5, days=5, streak=5)
    of = Material(
        subject_id="ann",
        question="",
        given=Given(mood="sad"),
        policy=load_policy("contact"),
        profile=Profile(subject_id="ann", facts=(), recent=(), relationship=known),
        memories=(),
        staged=None,
        memory_budget=100,
        count=len,
    )
    text = "\n".join(section.text for section in lay_out(of))
    assert "Current mood: sad" in text
    assert "Write as they do" not in text and "Difficult period" not in text and "Avoid" not in text


def test_what_was_said_several_times_has_one_line_as_it_was_said_last() -> None:
    at = datetime(2026, 3, 2, 9, tzinfo=UTC)
    said = ["Good night!", "Works at Zoho", "good night.", "Good  night", "Good night, Nila"]
    memories = [
        Chosen(
            id=UUID(int=place), kind="episode", content=text, happened_at=at + timedelta(days=place), importance=0.5,
            score=1 - place / 10,
        )
        for place, text in enumerate(said)
    ]  # fmt: skip
    told = one_line_each(memories)
    assert [one.content for one in told] == ["Good  night", "Works at Zoho", "Good night, Nila"]
    assert [one.score for one in told] == [1.0, 0.9, 0.6]
    assert [one.same_ids for one in told] == [(UUID(int=0), UUID(int=2)), (), ()]
