"""What a context is made of: of somebody unknown, nothing is told."""

from __future__ import annotations

from reverie.policy import load_policy
from reverie.recall.contexts.forms import lay_out
from reverie.recall.contexts.material import Material
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
