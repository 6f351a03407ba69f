"""Days in a context: a memory is told with the day on which it happened, a summary begins with its own."""

from dataclasses import replace
from uuid import uuid4

import pytest

from reverie.policy import shipped_policies
from reverie.recall.contexts.request import Given
from reverie.recall.profile import ProfileStatement, Recent
from tests.recall.test_forms import AT, chosen, fact, material, text

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
    assert of.profile.narrative(50) == f"Recently: {TOLD.removesuffix('.')};"


def test_what_happened_is_told_with_its_day() -> None:
    walk = Recent(id=uuid4(), kind="episode", content="Went for a walk", happened_at=AT)
    of = material("reverie", memories=chosen(("episode", "Had a coffee", 0.5)), recent=[walk])
    assert "- [episode] 2026-04-03: Had a coffee" in text(of)
    assert "- 2026-04-03: Went for a walk" in text(of)
    assert of.profile.narrative(50) == "Recently: 2026-04-03, Went for a walk;"


def test_a_narrative_by_rules_is_in_words() -> None:
    born = replace(fact("birthday", "6 March"), content="Nomvula's birthday is 6 March.")
    doubted = ProfileStatement(
        id=uuid4(), kind="fact", content="Lindiwe keeps the books", happened_at=AT, importance=0.5, polarity=0,
        doubted_at=AT, doubt="Lindiwe has left",
    )  # fmt: skip
    walk = Recent(id=uuid4(), kind="episode", content="Went for a walk", happened_at=AT)
    also = replace(fact("month_of_birth", "March"), content=born.content)
    profile = material("reverie", facts=[born, also], recent=[walk]).profile
    assert replace(profile, statements=(doubted,)).narrative_of(50) == (
        "Known: Nomvula's birthday is 6 March; "
        "2026-04-03, Lindiwe keeps the books (may be over; 2026-04-03: “Lindiwe has left”); "
        "Recently: 2026-04-03, Went for a walk;",
        [born.id, doubted.id, walk.id],
    )
