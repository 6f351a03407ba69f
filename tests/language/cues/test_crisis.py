"""The language of a crisis: what must be found, what must not, and the help that comes with it."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.train_crisis import cases, trained
from reverie.inference import load_embedder
from reverie.language.cues import crisis as crisis_
from reverie.language.cues import linear
from reverie.language.cues.attribution import veil
from reverie.language.cues.crisis import find_crisis, help_for, normalized, signs_of
from reverie.language.pack import read_table
from reverie.policy import load_policy, shipped_policies
from reverie.policy.live import CrisisPolicy, Helpline

NUMBERS = load_policy("reverie").crisis
MINILM = "minilm-l6-v2-int8"
TABLE = read_table("crisis")


@pytest.mark.parametrize("text", ["I want to die", "can't take this anymore"])
@pytest.mark.parametrize("policy", shipped_policies())
def test_the_seeds_words_are_found_by_every_policy(text: str, policy: str) -> None:
    found = find_crisis(text, crisis=load_policy(policy).crisis)
    assert found is not None
    assert found.help.message
    assert found.help.helplines


def test_the_patterns_find_what_they_were_made_from() -> None:
    """Set 1; what was not looked at while they were made is in `bench/README.md`."""
    first = cases(1)
    found = np.array([bool(signs_of(text)) for text in first.texts])
    assert [text for text, hit in zip(first.texts, found == first.crisis, strict=True) if not hit] == []
    assert len(cases(1, 2, 3).texts) >= 150


@pytest.mark.parametrize(
    "text",
    [
        "I WANT TO DIE",
        "i want to dieeeee",
        "i w a n t to die. k i l l myself",
        "i wanna k1ll mys3lf",
        "i don’t want to live anymore",
        "I keep thinking 'I want to die'",
        'My head says "just kill myself"',
        "kill my\u200bself",
    ],
)
def test_disguises_are_seen_through(text: str) -> None:
    assert signs_of(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("I want to end it alllll", "I want to end it all"),
        ("I took all my pillllls", "I took all my pills"),
        ("killll myself", "kill myself"),
        ("this traffic is killlling me", "this traffic is killing me"),
        ("I donnnnt want to die", "I dont want to die"),
    ],
)
def test_repeated_letters_hide_nothing(text: str, meant: str) -> None:
    assert signs_of(text) == signs_of(meant)


@pytest.mark.parametrize(
    "text",
    [
        "He says 'I want to die' and leaves",
        'The song is called "I want to die"',
        "I don't want to die",
        "I'm not suicidal",
        "I have never been suicidal",
        "I'd rather die than eat that",
        "We drove 300 kms today",
        "people want to die in their own bed",
    ],
)
def test_quotation_denial_and_hyperbole_are_not(text: str) -> None:
    assert signs_of(text) == ()


@pytest.mark.parametrize(
    "text", ["user: I want to die", "> I want to kill myself", "[12:03] Bob: I want to die tonight"]
)
def test_what_the_rules_do_not_read_is_still_looked_at(text: str) -> None:
    assert veil(text) != text
    assert signs_of(text)


@pytest.mark.parametrize("text", ["I've given away all my things", "I have been giving my things away"])
def test_giving_things_away_is_a_sign_in_either_order(text: str) -> None:
    assert signs_of(text) == ("goodbye",)


def test_a_denial_with_a_but_counts() -> None:
    assert signs_of("I don't want to die, but I can't see another way")


def test_every_match_has_a_cue() -> None:
    """The cues only save time: without them the same is found in all cases."""
    compiled = crisis_._compiled()
    for text in cases(1, 2, 3).texts:
        plain = normalized(text)
        for sign, pattern in compiled.signs:
            if pattern.search(plain):
                assert any(cue in plain for cue in sign.cues), (sign.name, text)


def test_names_are_unique_and_no_text() -> None:
    names = [sign["name"] for sign in TABLE["signs"]]
    assert len(set(names)) == len(names)
    found = find_crisis("I want to die, my name is Zebedee", crisis=NUMBERS)
    assert found is not None
    assert set(found.signs) <= {*names, "policy", "vector"}


def test_the_vector_is_a_sign_of_its_own() -> None:
    row = linear.load("crisis_weights.json").weights[1]
    vector = row / np.linalg.norm(row)
    found = find_crisis("hm", crisis=NUMBERS, vector=vector, embedding_model=MINILM)
    assert found is not None
    assert found.signs == ("vector",)
    assert find_crisis("hm", crisis=NUMBERS, vector=vector, embedding_model="other") is None
    assert find_crisis("hm", crisis=NUMBERS, vector=-vector, embedding_model=MINILM) is None


EVERYDAY = (
    "goodbye", "see you tomorrow", "my back hurts", "call mum later", "i miss my mum", "remind me to take my meds",
    "good night", "bye", "off to bed", "so tired", "my head hurts", "take out the bins", "where are you", "ok thanks",
)  # fmt: skip
DESPERATE = ("i want to die", "cant do this anymore", "dont want to be alive", "i took all my pills")


def test_short_talk_without_punctuation_is_no_crisis_unless_it_says_so() -> None:
    embedder = load_embedder("minilm")

    def flagged(texts: Sequence[str]) -> list[str]:
        vectors = zip(texts, embedder.encode(texts), strict=True)
        options = {"crisis": NUMBERS, "embedding_model": embedder.model}
        return [text for text, vector in vectors if find_crisis(text, vector=vector, **options)]  # type: ignore[arg-type]

    assert flagged(EVERYDAY) == []
    assert flagged(DESPERATE) == list(DESPERATE)
    held_out = cases(5)
    found = set(flagged(held_out.texts))
    hits = np.array([text in found for text in held_out.texts])
    assert hits[held_out.crisis].mean() >= 0.85
    assert hits[~held_out.crisis].mean() <= 0.05


def test_no_voice_of_the_short_cases_is_trained_on_and_held_out() -> None:
    trained_on, held_out = cases(4), cases(5)
    assert not set(trained_on.kinds) & set(held_out.kinds)
    assert not set(trained_on.texts) & set(held_out.texts)


def test_training_gives_the_same_bytes_again() -> None:
    generator = np.random.default_rng(7)
    ours, others = generator.normal(size=(20, 384)).astype(np.float32), generator.normal(size=(50, 384))
    yes = np.arange(20) % 2 == 0
    assert trained(ours, yes, others).tobytes() == trained(ours, yes, others).tobytes()


def test_a_policy_decides() -> None:
    off = NUMBERS.model_copy(update={"detect": False})
    assert find_crisis("I want to die", crisis=off) is None
    for review in (True, False):
        found = find_crisis("I want to die", crisis=NUMBERS.model_copy(update={"review": review}))
        assert found is not None
        assert found.review is review
    own = CrisisPolicy(detect=True, review=False, vector_probability=1.0, phrases=(r"\bcode black\b",))
    found = find_crisis("It's code black.", crisis=own)
    assert found is not None
    assert found.signs == ("policy",)


def test_help_is_of_the_country_and_the_language() -> None:
    india = help_for(NUMBERS, country="in", language="en-IN")
    assert [line.country for line in india.helplines] == ["IN", None]
    german = help_for(NUMBERS, country="DE", language="de")
    assert german.message != india.message
    assert [line.country for line in help_for(NUMBERS, country="XX", language="xx").helplines] == [None]
    assert help_for(NUMBERS).message == india.message


def test_a_deployments_own_help_stands_first() -> None:
    ours = (
        Helpline(country="IN", name="Ours", contact="123"),
        Helpline(name="Ours everywhere", contact="https://example.org"),
    )
    own = NUMBERS.model_copy(update={"helplines": ours, "message": "We are here."})
    helped = help_for(own, country="IN", language="de")
    assert helped.helplines == ours
    assert helped.message == "We are here."
    assert [line.country for line in help_for(own, country="DE").helplines] == ["DE", None]


def test_the_example_of_the_docs_is_a_policy(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[3]
    (example,) = re.findall(r"```toml\n(.*?)```", (root / "docs" / "mood.md").read_text("utf-8"), re.DOTALL)
    own = tmp_path / "own.toml"
    own.write_text(example, "utf-8")
    found = find_crisis("It's code black.", crisis=load_policy(str(own)).crisis, country="IN")
    assert found is not None
    assert found.signs == ("policy",)
    assert found.help.message.startswith("We are here")
    assert found.help.helplines[0].name == "Our line"


@given(st.text(max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    signs_of(text)


@pytest.mark.parametrize("piece", ["i want ", "kill ", "no reason ", "a" * 50 + " ", '"', "'i ", "i thought about "])
def test_a_long_text_takes_no_long_time(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    begun = time.perf_counter()
    signs_of(text)
    assert time.perf_counter() - begun < 5


def test_other_languages_are_heard_by_a_few_phrases() -> None:
    wishes = (
        "No quiero vivir",
        "no quiero vivir más",
        "no quiero vivir así",
        "no quiero vivir en este mundo",
        "Ich will nicht mehr leben",
        "ich will einfach nur sterben",
        "Es hat alles keinen Sinn mehr",
        "ich sehe keinen Sinn mehr",
        "je veux en finir",
        "je veux mourir",
        "j'ai envie de mourir",
        "quiero morirme",
        "me quiero morir",
        "me quiero matar",
        "voy a suicidarme",
        "quero morrer",
        "não quero mais viver",
        "voglio morire",
        "non voglio più vivere",
        "voglio farla finita",
        "ik wil dood",
        "ik wil niet meer leven",
        "死にたい",
        "もう死にたい",
        "أريد أن أموت",
        "मैं मरना चाहती हूँ",
        "Хочу умереть",
        "я не хочу больше жить",
        "我不想活了",
        "main marna chahti hoon",
        "je veux en finir avec la vie",
        "Ich will nur noch sterben",
        "ich will noch heute sterben",
        "No quiero vivir con este dolor",
        "no quiero seguir viviendo con esta angustia",
        "não quero viver com essa dor",
        "non voglio più vivere con questo dolore",
        "No quiero vivir de esta manera",
        "je veux en finir avec cette vie",
        "voy a morir esta noche",
        "Es hat keinen Sinn mehr",
        "想死",
    )
    others = (
        "No quiero vivir en Madrid, prefiero Sevilla.",
        "Non voglio vivere a Milano.",
        "no quiero morir, tengo miedo del cáncer",
        "Ich will nicht sterben, ich habe noch so viel vor!",
        "vou morrer de rir kkkk",
        "Voy a matar el tiempo",
        "Das macht keinen Sinn mehr, ich bestelle das Sofa ab.",
        "Je veux en finir avec ce dossier",
        "me voy a morir de hambre",
        "Não quero viver com a minha sogra",
        "non voglio morire",
        "Ik wil niet dood, ik ben bang",
        "je ne veux pas mourir",
        "Não quero morrer",
        "Я не хочу жить в Москве",
        "想死你了",
        "me quiero morir de vergüenza",
        "No quiero vivir con mi madre",
        "لا أريد أن أموت",
        "我不想死",
        "想死她了",
        "хочу умереть от смеха",
        "Ich will nicht sterben",
        "no quiero vivir con mis suegros",
        "Das macht keinen Sinn mehr",
    )
    assert [text for text in wishes if "other-languages" not in signs_of(text)] == []
    assert [text for text in others if "other-languages" in signs_of(text)] == []
