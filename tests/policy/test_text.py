"""A policy in full is the same policy, and says where each value is from."""

from __future__ import annotations

import pytest

from reverie.policy import load_policy, shipped_policies
from reverie.policy.text import policy_text
from tests.policy.conftest import RULE, Write, numbers


@pytest.mark.parametrize("name", shipped_policies())
def test_a_shipped_policy_in_full_is_the_same_policy(write: Write, name: str) -> None:
    assert load_policy(write(policy_text(name))) == load_policy(name)


@pytest.mark.parametrize(
    "text",
    [
        'base = "reverie"\n[recall]\ntop_k = 4\n[crisis]\nphrases = ["code (?:black|\\"red\\")"]\n',
        '[[crisis.helplines]]\nname = "Ours \\u0007 \\U0001f64f"\ncontact = "18"\n' + RULE.format(name="q"),
        "name = \"It's\"\n[crisis]\nmessage = \"a\\nb ''' c \\\\ \\\" \\u007f'\"\n[extract]\nguard = 'x\\b\"'\n",
    ],
)
def test_a_policy_in_full_is_the_same_whatever_it_says(write: Write, text: str) -> None:
    path = write(text)
    full = load_policy(write(policy_text(path), "full.toml"))
    assert numbers(full) == numbers(load_policy(path))
    assert full.hash == load_policy(path).hash


def test_each_value_is_followed_by_its_origin(write: Write) -> None:
    path = write('base = "brain"\n[recall]\ntop_k = 4\n' + RULE.format(name="quartz"))
    lines = policy_text(path).splitlines()
    for line in ("token_budget = 1500  # brain", "candidates = 30  # default", 'name = "mine"  # default'):
        assert line in lines
    for line in (f"top_k = 4  # {path}", f"[[extract.rules]]  # {path}", "[[extract.rules]]  # brain"):
        assert line in lines
