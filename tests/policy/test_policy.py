"""Reading a policy: what is wrong with it is said in words, and its hash stands for its numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from reverie.errors import PolicyError
from reverie.policy import load_policy, shipped_policies
from reverie.policy.text import policy_text

Changed = Callable[..., Path]


@pytest.fixture
def changed(tmp_path: Path) -> Changed:
    """Writes a shipped policy in full, in which one thing is another."""

    def write(old: str, new: str, name: str = "brain") -> Path:
        text = in_full(name)
        assert old in text
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.toml"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return path

    return write


def in_full(name: str) -> str:
    """Every value of a policy, without where it is from."""
    return re.sub(r"  # \w+$", "", policy_text(name), flags=re.MULTILINE)


def test_six_policies_are_shipped() -> None:
    assert shipped_policies() == ["agent", "brain", "chat", "contact", "logic", "reverie"]
    for name in shipped_policies():
        policy = load_policy(name)
        assert policy.name == name
        assert policy.description.endswith(".")
        assert re.fullmatch("[0-9a-f]{16}", policy.hash)
    assert len({load_policy(name).hash for name in shipped_policies()}) == 6


def test_a_copy_works_by_its_path(changed: Changed) -> None:
    policy = load_policy(str(changed("threshold = 0.92", "threshold = 0.95")))
    assert policy.merge.threshold == 0.95
    assert policy.hash != load_policy("brain").hash


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("threshold = 0.92", "threshold = 1.92", "merge.threshold .*: .*less than or equal to 1, found 1.92"),
        ("reinforce = 0.05", "reinforce = -1", "merge.reinforce .*: .* greater than or equal to 0, found -1"),
        ("fact = 0.01", "fact = 2", "decay.rates.fact .*: Input should be less than or equal to 1, found 2"),
        ("hours = 6", "hours = 25", "cycle.hours .*: Input should be less than or equal to 24, found 25"),
        ("top_k = 10", "top_k = 'ten'", "recall.top_k .*: Input should be a valid integer.*, found 'ten'"),
        ("top_k = 10", "topk = 10", "recall.topk .*: there is no such key, the nearest is 'top_k'"),
        ('mode = "kind"', 'mode = "guess"', "importance.mode .*: .* 'kind' or 'novelty_salience', found 'guess'"),
        ("\nsimilarity = 0.4", "\nlikeness = 0.4", 
         r"recall.weights.likeness \(line \d+\): .* known are similarity, lexical.* found 'likeness'"),
        ("hours = 6", "hours = 5", "cycle.hours .*: must divide 24, .* found 5"),
        ("pattern = 0.01", "patern = 0.01", "decay.rates.patern.*, found 'patern'"),
        ("[prune]", "[prone]", "prone.*: there is no such key, the nearest is 'prune'"),
        ("grace_days = 7.0", "grace_days = ", "is not valid TOML"),
        ("template = \"Likes {x}\"", "template = \"Likes {y}\"", "extract.rules"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_what_is_allowed(changed: Changed, old: str, new: str, message: str) -> None:
    path = changed(old, new)
    with pytest.raises(PolicyError, match=message) as raised:
        load_policy(str(path))
    assert str(path) in str(raised.value)


def test_an_unknown_policy_names_those_there_are() -> None:
    with pytest.raises(
        PolicyError, match="no policy 'brian': give one of agent, brain, chat, contact, logic, reverie or"
    ):
        load_policy("brian")


def test_the_hash_changes_with_every_number(changed: Changed) -> None:
    """Whichever heading it stands under; one digit of each number of the file is another."""
    text = in_full("brain")
    hashes = {load_policy("brain").hash}
    tried = 0
    for line in re.findall(r"^\w+ = [\d.]+$", text, re.MULTILINE):
        key, number = line.split(" = ")
        if text.count(f"\n{line}\n") > 1 or key.startswith(("min_tokens", "total")):
            continue
        other = "0.5" if "." in number and number != "0.5" else "0.25" if "." in number else str(int(number) + 1)
        try:
            hashes.add(load_policy(str(changed(f"\n{line}\n", f"\n{key} = {other}\n"))).hash)
        except PolicyError:
            continue  # out of range
        tried += 1
    assert tried > 30
    assert len(hashes) == tried + 1


def test_the_hash_changes_with_a_rule(changed: Changed) -> None:
    assert load_policy(str(changed("Likes {x}", "Enjoys {x}"))).hash != load_policy("brain").hash


def test_comments_and_layout_do_not_count(changed: Changed) -> None:
    for old, new in (
        ("[merge]", "# how near is the same\n[merge]"),
        ("threshold = 0.92", "threshold   =   0.920"),
        ("grace_days = 7.0", "grace_days = 7"),
        ("AI Brain: a copilot's memory of a business.", "Said otherwise."),
    ):
        assert load_policy(str(changed(old, new))).hash == load_policy("brain").hash, new
