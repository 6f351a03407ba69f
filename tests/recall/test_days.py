"""Days in a context: a memory is told with the day on which it happened, a summary begins with its own."""

from uuid import uuid4

import pytest

from reverie.policy import shipped_policies
from reverie.recall.contexts.request import Given
from reverie.recall.profile import Recent
from tests.recall.test_forms import AT, chosen, material, text

TOLD = "2 April 2026. Ana: We went to the lake."


@pytest.mark.parametrize("name", shipped_policies())
def test_a_summary_tells_its_day_once(name: str) -> None:
    of = material(
        name,
        memories=chosen(("summary", TOLD, 0.5)),
        recent=[Recent(id=uuid4(), kind="summary", content=TOLD, happened_at=AT)],
        given=Given(mood="happy"),
    )
    assert f"{AT:%Y-%m-%d}" not in text(of)
    assert name == "chat" or TOLD in text(of)
    assert of.profile.narrative(50) == f"Recently: {TOLD};"


def test_what_happened_is_told_with_its_day() -> None:
    walk = Recent(id=uuid4(), kind="episode", content="Went for a walk", happened_at=AT)
    of = material("reverie", memories=chosen(("episode", "Had a coffee", 0.5)), recent=[walk])
    assert "- [episode] 2026-04-03: Had a coffee" in text(of)
    assert "- 2026-04-03: Went for a walk" in text(of)
    assert of.profile.narrative(50) == "Recently: 2026-04-03, Went for a walk;"
