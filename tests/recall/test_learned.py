"""What was learned about connections is in the profile of our own form of a context."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID, uuid4

from reverie.recall.contexts.forms import lay_out
from reverie.recall.contexts.request import Given
from reverie.recall.scaffold import ScaffoldEntry
from tests.recall.test_forms import AT, material


def test_our_profile_has_what_was_learned_about_connections() -> None:
    entry = ScaffoldEntry(
        id=uuid4(), connection_id="jira-1", path=["default_project"], value="PROJ", confidence=0.9, basis="said",
        state="active", valid_from=AT, valid_to=None, replaced_by=None, sources=[], model=None, run_id=UUID(int=0),
        policy_hash="p", against=None,
    )  # fmt: skip
    of = material("reverie", given=Given(learned={"mail": {"signature": "Team Flora"}, "crm": "slow on Mondays"}))
    of = replace(of, profile=replace(of.profile, entries=(entry,), as_of=AT))
    (profile,) = (one for one in lay_out(of) if one.name == "profile")
    assert profile.text.splitlines()[1:] == [
        "- jira-1: default_project: PROJ", "- mail: signature: Team Flora", "- crm: slow on Mondays",
    ]  # fmt: skip
    assert [line.ids for line in profile.lines] == [(entry.id,), (), ()]
