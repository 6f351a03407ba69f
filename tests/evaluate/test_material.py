"""The texts of simulated people are whole."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from reverie.evaluate.simulation.material import FactPlan, fact_plans, talk


def test_the_material_is_whole() -> None:
    assert len({plan.name for plan in fact_plans()}) == len(fact_plans()) >= 20
    assert {"small", "mood", "event", "routine", "request", "passing", "reply", "post"} <= talk().keys()
    given = fact_plans()[0].model_dump()
    with pytest.raises(ValidationError, match="no wording of a change"):
        FactPlan.model_validate(given | {"change": ()})
    with pytest.raises(ValidationError, match="each value needs a key"):
        FactPlan.model_validate(given | {"keys": ("one",)})
