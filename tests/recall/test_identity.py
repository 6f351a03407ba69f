"""Who an agent is, as its caller says."""

from reverie.recall.contexts.identity import agent_identity
from reverie.recall.contexts.request import Given


def test_what_is_given_stands_under_its_heading() -> None:
    given = Given(agent_name="Ada\nLovelace", constitution="Be kind.", directives=("No calls after 8 pm",))
    identity, directives, artifacts = agent_identity(given)
    assert [line.text for line in identity.lines] == ["Name: Ada Lovelace", "Be kind."]
    assert [line.text for line in directives.lines] == ["- No calls after 8 pm"]
    assert artifacts.text(artifacts.lines) == ""
