"""A message that is compared: which texts it may bring up."""

from __future__ import annotations

from reverie.policy.sensitivity import SensitivityPolicy
from reverie.recall.places.sensitive import may_be_told

POLICY = SensitivityPolicy(withhold=("health",), withhold_similarity=0.5)
ASTHMA = "Daughter Mila has asthma"


def test_a_message_about_something_else_brings_up_nothing_sensitive() -> None:
    texts = [(ASTHMA, 0.3), (ASTHMA, 0.6), ("Is allergic to peanuts", 0.3), ("Likes tea", 0.3)]
    assert may_be_told("What shall we cook?", texts, POLICY) == [False, True, True, True]


def test_a_message_of_the_class_does() -> None:
    assert may_be_told("My asthma is worse today", [(ASTHMA, 0.3)], POLICY) == [True]
    assert may_be_told("What shall we cook?", [(ASTHMA, 0.3)], SensitivityPolicy()) == [True]
