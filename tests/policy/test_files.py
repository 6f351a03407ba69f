"""A policy file with a base states what differs; what is wrong with either is said with its file and line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reverie.errors import PolicyError
from reverie.policy import load_policy
from reverie.policy.files import RETIRED, read_files
from tests.policy.conftest import RULE, Write, numbers


def rules(path: str) -> list[str]:
    return [rule.name for rule in load_policy(path).extract.rules]


@pytest.mark.parametrize("base", ["brain", "reverie"])
def test_a_file_that_only_names_its_base_has_all_of_it(write: Write, base: str) -> None:
    policy = load_policy(write(f'base = "{base}"\n'))
    assert numbers(policy) == numbers(load_policy(base))
    assert (policy.name, policy.description) == ("mine", ""), "name and description are its own"


def test_what_differs_goes_before_the_base(write: Write) -> None:
    policy = load_policy(write('base = "brain"\n[recall]\ntop_k = 4\n[recall.weights]\nentity = 0.3'))
    brain = load_policy("brain")
    assert policy.recall.top_k == 4
    assert policy.recall.weights == brain.recall.weights | {"entity": 0.3}
    recall = policy.recall.model_copy(update={"top_k": brain.recall.top_k, "weights": brain.recall.weights})
    assert numbers(policy.model_copy(update={"recall": recall})) == numbers(brain)


def test_tables_merge_and_lists_replace(write: Write) -> None:
    policy = load_policy(write('base = "brain"\n[merge]\nkinds = ["episode"]\n[decay.rates]\nfact = 0.5'))
    assert policy.merge.kinds == ("episode",)
    assert policy.decay.rates == load_policy("brain").decay.rates | {"fact": 0.5}


def test_a_base_has_a_base(write: Write) -> None:
    write('base = "logic"\n[recall]\ntop_k = 7\ncandidates = 9\n', "below/middle.toml")
    policy = load_policy(write('base = "below/middle.toml"\n[recall]\ntop_k = 3\n'))
    assert (policy.recall.top_k, policy.recall.candidates, policy.importance.threshold) == (3, 9, 0.3)


def test_the_path_of_a_base_starts_at_the_folder_of_its_file(write: Write) -> None:
    write("[recall]\ntop_k = 8\n")
    write('base = "../mine.toml"\n', "below/other.toml")
    assert load_policy(write('base = "other.toml"\n', "below/last.toml")).recall.top_k == 8


def test_a_new_rule_is_tried_before_those_of_the_base(write: Write) -> None:
    assert rules(write('base = "brain"\n' + RULE.format(name="quartz"))) == ["quartz", *rules("brain")]


def test_a_rule_of_the_name_of_one_of_the_base_takes_its_place(write: Write) -> None:
    path = write('base = "brain"\n' + RULE.format(name="i-like"))
    assert rules(path) == rules("brain")
    (instead,) = (rule for rule in load_policy(path).extract.rules if rule.name == "i-like")
    assert (instead.kind, instead.polarity) == ("fact", 0), "nothing of the other rule is left"


def test_rules_of_the_base_are_left_out(write: Write) -> None:
    some = write('base = "brain"\n[extract]\nwithout_rules = ["i-want", "dont"]', "some.toml")
    assert rules(some) == [name for name in rules("brain") if name not in ("i-want", "dont")]
    none = 'base = "brain"\n[extract]\nwithout_rules = ["*"]\n' + RULE.format(name="i-like")
    assert rules(write(none, "none.toml")) == ["i-like"]
    only = 'base = "brain"\n[extract]\nonly_rules = ["i-want", "dont"]\n' + RULE.format(name="quartz")
    assert sorted(rules(write(only, "only.toml"))) == ["dont", "i-want", "quartz"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('# mine\nbase = "brian"', r"base \(line 2\): there is no policy 'brian': give one of agent, brain, .* path"),
        ('base = "nowhere.toml"', r"base \(line 1\): there is no policy 'nowhere.toml'"),
        ('base = "mine.toml"', r"base \(line 1\): forms a cycle: .*mine.toml → .*mine.toml\.$"),
        ("base = 3", r"base \(line 1\): is the name of a shipped policy or the path of a .toml file, found 3"),
        ('base = "brain"\n\n[recall]\ntopk = 4', r"recall.topk \(line 4\): .* no such key, the nearest is 'top_k'"),
        ('bas = "brain"', r"bas \(line 1\): there is no such key, the nearest is 'base'"),
        ('base = "brain"\n[decay]\nrates = { fact = 2 }', r"decay.rates.fact \(line 3\): .* less than .* found 2"),
        ('base = "brain"\n[extract]\nwithout_rules = ["i-lke"]',
         r"extract.without_rules \(line 3\): the base has no rule 'i-lke', the nearest is 'i-like'"),
        ('base = "brain"\n[extract]\nonly_rules = ["i-lke"]',
         r"extract.only_rules \(line 3\): the base has no rule 'i-lke', the nearest is 'i-like'"),
        ('base = "brain"\n[extract]\nwithout_rules = "dont"', r"without_rules \(line 3\): is a list of names of rules"),
        ('base = "brain"\n' + RULE.format(name="q") + "polarity = 2", r"rules.0.polarity \(line 9\): .*found 2"),
        ('base = "brain"\n' + RULE.format(name="dont") * 2, "extract: rule names repeat: dont"),
        ("extract = 5", r"extract \(line 1\): Input should be a valid dictionary"),
        ("[extract]\nrules = [1]", r"extract.rules.0 \(line 2\): Input should be a valid dictionary"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(write: Write, text: str, message: str) -> None:
    path = write(text)
    with pytest.raises(PolicyError, match=message) as raised:
        load_policy(path)
    assert str(raised.value).startswith(f"Policy {path}: ")


def test_every_mistake_is_said_at_once(write: Write) -> None:
    base = write('base = "brain"\n[extract]\nonly_rules = ["dnot"]\n', "base.toml")
    path = write('base = "base.toml"\n[extract]\nwithout_rules = ["i-lke", "i-wnt"]\n[recall.weights]\nlikeness = 1\n')
    with pytest.raises(PolicyError) as raised:
        load_policy(path)
    for mistake in (
        f"extract.only_rules (line 3 of {base}): the base has no rule 'dnot', the nearest is 'dont'",
        "extract.without_rules (line 3): the base has no rule 'i-lke'",
        "extract.without_rules (line 3): the base has no rule 'i-wnt'",
        "recall.weights.likeness (line 5): there is no such name; known are similarity",
    ):
        assert mistake in str(raised.value)


def test_bases_that_go_in_a_circle_are_named(write: Write) -> None:
    write('base = "b.toml"', "a.toml")
    write('base = "a.toml"', "b.toml")
    circle = r"b.toml: base \(line 1\): forms a cycle: .*mine.toml → .*a.toml → .*b.toml → .*a.toml"
    with pytest.raises(PolicyError, match=circle):
        load_policy(write('base = "a.toml"'))


def test_what_is_wrong_in_a_base_is_said_with_its_file(write: Write) -> None:
    base = write("[merge]\nthreshold = 7\n" + RULE.format(name="q") + "polarity = 2\n", "base.toml")
    with pytest.raises(PolicyError) as raised:
        load_policy(write('base = "base.toml"\n' + RULE.format(name="first")))
    assert f"merge.threshold (line 2 of {base})" in str(raised.value)
    assert f"extract.rules.1.polarity (line 10 of {base})" in str(raised.value)


def test_bytes_that_are_no_text_are_an_error_in_words(tmp_path: Path) -> None:
    path = tmp_path / "bytes.toml"
    path.write_bytes(b"name = '\xff'")
    with pytest.raises(PolicyError, match="is not valid TOML"):
        load_policy(str(path))


def test_relations_may_be_those_of_a_language_pack(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(
        'description = "x"\n[extract]\nrelations = "english"\n[extract.importance]\nfact = 0.5\n'
    )
    assert load_policy(str(tmp_path / "own.toml")).extract.relations["lives_in"].values == "one"
    (tmp_path / "more.toml").write_text('base = "own.toml"\n[extract.relations.rides]\nwording = "Rides {object}"\n')
    relations = load_policy(str(tmp_path / "more.toml")).extract.relations
    assert {"rides", "lives_in"} <= relations.keys()


def test_an_unknown_language_pack_is_named(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('[extract]\nrelations = "klingon"\n')
    with pytest.raises(PolicyError, match=r"extract.relations \(line 2\): is a table or one of english"):
        load_policy(str(tmp_path / "own.toml"))


def test_a_language_pack_is_a_base_and_no_policy(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="'english' is a language pack, not a policy: it may be the base of one"):
        load_policy("english")
    path = tmp_path / "ours.toml"
    path.write_text('base = "english"\n', encoding="utf-8")
    assert load_policy(str(path)).extract.rules


def test_keys_of_earlier_versions_are_ignored(write: Write) -> None:
    old = "\n".join(f"{key} = 1" for key in RETIRED)
    path = write(f'base = "reverie"\n{old}\nrecall.top_k = 3\n')
    (file, *_) = read_files(path)
    assert file.retired == tuple(RETIRED)
    assert numbers(load_policy(path)) == numbers(load_policy(write('base = "reverie"\nrecall.top_k = 3\n', "new.toml")))
    with pytest.raises(PolicyError, match=r"working_memory.keep_verbatims \(line 2\): there is no such key"):
        load_policy(write("[working_memory]\nkeep_verbatims = 1\n", "typo.toml"))


def test_no_key_is_retired_that_policies_have() -> None:
    for old, new in RETIRED.items():
        assert old not in _keys(), old
        assert new is None or new in _keys(), new


def _keys() -> set[str]:
    """The keys of a policy below its headings."""
    found: dict[str, Any] = load_policy("reverie").model_dump()
    keys: set[str] = set()
    waiting = [("", found)]
    while waiting:
        heading, table = waiting.pop()
        for name, value in table.items():
            keys.add(f"{heading}{name}")
            if isinstance(value, dict):
                waiting.append((f"{heading}{name}.", value))
    return keys


def test_a_mistaken_key_of_a_relation_is_named(write: Write) -> None:
    path = write('base = "reverie"\n[extract.relations.lives_in]\nlastng = "fades"\n')
    with pytest.raises(PolicyError, match=r"lives_in.lastng \(line 3\): there is no such key, the nearest is 'lasts'"):
        load_policy(path)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (RULE.format(name="quartz").replace(".+", "<stone>"), "rule quartz: the pattern names <stone>, which"),
        ("[extract]\nguard = '^<stone>'", "guard: the pattern names <stone>, which is not in \\[extract.words\\]"),
    ],
)
def test_a_pattern_with_words_that_do_not_exist_is_named(write: Write, text: str, named: str) -> None:
    with pytest.raises(PolicyError, match=named):
        load_policy(write(f'base = "reverie"\n{text}\n'))
    load_policy(write(f'base = "reverie"\n{text}\n[extract.words]\nstone = ["agate"]\n', "known.toml"))
