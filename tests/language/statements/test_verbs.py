"""Regular verbs lose their endings, irregular ones are listed."""

import pytest

from reverie.language.statements.verbs import base_form


@pytest.mark.parametrize(
    ("form", "base", "tense"),
    [
        ("moved", "move", "past"),
        ("moving", "move", "present"),
        ("studies", "study", "present"),
        ("stopped", "stop", "past"),
        ("sold", "sell", "perfect"),
        ("went", "go", "past"),
        ("visited", "visit", "past"),
        ("graduated", "graduate", "past"),
        ("is", "be", "present"),
    ],
)
def test_base_form(form: str, base: str, tense: str) -> None:
    assert base_form(form)[0] == base
    assert base_form(form)[1] in (tense, "past")
