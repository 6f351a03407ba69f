"""The mood of a message: the order of the chain, the model's limit of time, the classifier's file and its making."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.mood_data import DATA, MOOD_OF, own
from bench.train_mood import ATTRIBUTION, trained, written
from reverie.language.cues import linear
from reverie.language.cues.mood import MOODS, Mood, by_keywords, by_vector, in_crisis, read_mood, with_manner
from reverie.policy import load_policy, shipped_policies

CUES = Path(linear.__file__).parent
OURS = load_policy("reverie").mood
CONTACT = load_policy("contact").mood
MINILM = "minilm-l6-v2-int8"
BEFORE = Mood(mood="grateful", energy="high", style="casual", confidence=0.7, method="classifier")
SAID = Mood(mood="excited", energy="medium", style="deep", confidence=None, method="model")
FLIRTY = Mood(mood="flirty", energy="medium", style="romantic", confidence=None, method="model")


def vector_of(mood: str) -> np.ndarray:
    """A unit vector that the classifier takes for a mood with near certainty."""
    weights = linear.load("mood_weights.json").weights
    direction = weights[MOODS.index(mood)] - weights.mean(0)
    return direction / np.linalg.norm(direction)


#: Contact 4.1, word for word.
@pytest.mark.parametrize(
    ("text", "mood", "energy"),
    [
        ("haha good one", "happy", "high"),
        ("LOL", "happy", "high"),
        ("😂😂", "happy", "high"),
        ("That is amazing!", "happy", "high"),
        ("I'm sad", "sad", "low"),
        ("can't stop crying", "sad", "low"),
        ("😢", "sad", "low"),
        ("I miss her", "sad", "low"),
        ("worried about tomorrow", "anxious", "low"),
        ("so nervous", "anxious", "low"),
        ("feeling anxious", "anxious", "low"),
        ("Ugh", "frustrated", "medium"),
        ("I am annoyed", "frustrated", "medium"),
        ("frustrated again", "frustrated", "medium"),
        ("bored", "bored", "low"),
        ("meh", "bored", "low"),
        ("Whatever.", "bored", "low"),
        ("hahahaha", "happy", "high"),
    ],
)
def test_the_seeds_keywords(text: str, mood: str, energy: str) -> None:
    told = by_keywords(text)
    assert told is not None
    assert (told.mood, told.energy, told.method, told.confidence) == (mood, energy, "keywords", None)


@pytest.mark.parametrize("text", ["", "a lollipop", "a mission to the saddle", "We dismissed it", "ok"])
def test_no_keyword_is_neutral_and_medium(text: str) -> None:
    assert by_keywords(text) is None
    told = read_mood(text, mood=CONTACT)
    assert (told.mood, told.energy, told.method) == ("neutral", "medium", "keywords")


@pytest.mark.parametrize("name", [name for name in shipped_policies() if name not in ("reader", "reverie")])
def test_the_seeds_chain(name: str) -> None:
    """Timeout: the previous mood. Provider down or absent: keywords, whatever came before. Never a classifier."""
    mood = load_policy(name).mood
    given = {"mood": mood, "vector": vector_of("angry"), "embedding_model": MINILM, "previous": BEFORE}
    assert read_mood("I'm sad", answer=SAID, **given) is SAID
    late = read_mood("I'm sad", answer="late", **given)
    assert (late.mood, late.energy, late.method) == ("grateful", "high", "previous")
    assert read_mood("I'm sad", answer="late", mood=mood).mood == "sad"
    for answer in ("failed", None):
        told = read_mood("I'm sad", answer=answer, **given)
        assert (told.mood, told.method) == ("sad", "keywords")
        assert read_mood("table", answer=answer, **given).mood == "neutral"


@pytest.mark.parametrize("answer", ["late", "failed", None])
def test_our_chain(answer: str | None) -> None:
    sure = {"vector": vector_of("angry"), "embedding_model": MINILM}
    never = OURS.model_copy(update={"classifier_confidence": 1.0})
    assert read_mood("I'm sad", mood=OURS, answer=SAID, previous=BEFORE, **sure) is SAID
    told = read_mood("I'm sad", mood=OURS, answer=answer, previous=BEFORE, **sure)
    assert (told.mood, told.method) == ("angry", "classifier")
    assert told.confidence is not None
    assert told.confidence >= OURS.classifier_confidence
    assert read_mood("I'm sad", mood=never, answer=answer, previous=BEFORE, **sure).method == "keywords"
    assert read_mood("table", mood=never, answer=answer, previous=BEFORE, **sure).method == "previous"
    assert read_mood("table", mood=never, answer=answer, **sure).mood == "neutral"


def test_an_instruction_is_no_anger_unless_it_shouts() -> None:
    angry = {"mood": OURS, "vector": vector_of("angry"), "embedding_model": MINILM}
    assert read_mood("Never suggest meat recipes.", **angry).mood == "angry"
    assert read_mood("Never suggest meat recipes.", instructs=True, **angry).mood not in ("angry", "frustrated")
    assert read_mood("NEVER EVER suggest meat again!!", instructs=True, **angry).mood == "angry"
    happy = {"mood": OURS, "vector": vector_of("happy"), "embedding_model": MINILM}
    assert read_mood("Always begin with good news.", instructs=True, **happy).mood == "happy"


def test_a_mood_ends_with_a_message_that_is_most_likely_neutral() -> None:
    unsure = OURS.model_copy(update={"classifier_confidence": 1.0})
    neutral = {"mood": unsure, "vector": vector_of("neutral"), "embedding_model": MINILM, "previous": BEFORE}
    assert (read_mood("table", **neutral).mood, read_mood("ugh", **neutral).mood) == ("neutral", "frustrated")
    late = unsure.model_copy(update={"after_late": ("previous", "classifier")})
    assert read_mood("table", answer="late", **(neutral | {"mood": late})).method == "previous"


def test_a_vector_of_another_embedder_is_not_read() -> None:
    assert by_vector(vector_of("angry"), MINILM) is not None
    assert by_vector(vector_of("angry"), "litellm/other") is None
    assert by_vector(vector_of("angry"), None) is None
    assert by_vector(None, MINILM) is None


@given(st.text(), st.sampled_from(MOODS))
def test_there_is_always_a_whole_mood(text: str, mood: str) -> None:
    for told in (read_mood(text, mood=OURS), with_manner(text, mood, confidence=0.5)):
        assert told.mood in MOODS
        assert told.energy in ("high", "medium", "low")
        assert told.style in ("playful", "deep", "casual", "supportive", "romantic", "venting")


@pytest.mark.parametrize(
    ("text", "mood", "energy", "style"),
    [
        ("he left me", "sad", "low", "supportive"),
        ("HE LEFT ME AGAIN!!", "sad", "medium", "deep"),
        ("what a nice day", "happy", "high", "playful"),
        ("nice, but I'm exhausted", "happy", "medium", "playful"),
        ("no", "angry", "high", "venting"),
    ],
)
def test_energy_follows_the_marks_and_style_both(text: str, mood: str, energy: str, style: str) -> None:
    told = with_manner(text, mood, confidence=0.5)
    assert (told.energy, told.style) == (energy, style)


@pytest.mark.parametrize(
    ("name", "classes", "digest"),
    [
        ("mood_weights.json", MOODS, "c9281734cd43b856"),
        ("crisis_weights.json", ("other", "crisis"), "4c59b3fcf6f2ef64"),
    ],
)
def test_the_weights_are_those_that_were_measured(name: str, classes: tuple[str, ...], digest: str) -> None:
    """Retrained? Run `bench/mood.py`, write its figures to `bench/README.md`, then the new digest here."""
    assert hashlib.sha256((CUES / name).read_bytes()).hexdigest()[:16] == digest
    assert (CUES / name).stat().st_size < 16_000
    read = linear.load(name)
    assert read.classes == classes
    assert read.weights.shape == (len(classes), 384)
    assert read.bias.shape == (len(classes),)
    assert np.isfinite(read.weights).all() and np.isfinite(read.bias).all()
    odds = read.probabilities(np.ones(384) / np.sqrt(384), read.embedding_model)
    assert odds is not None
    assert odds.sum() == pytest.approx(1)


def test_training_gives_the_same_bytes_again() -> None:
    """On a few clouds of points, ten moods of them, in file order and once more."""
    generator = np.random.default_rng(7)
    moods = list(MOODS) * 12
    centres = generator.normal(size=(len(MOODS), 384))
    vectors = np.array([centres[MOODS.index(mood)] + generator.normal(size=384) for mood in moods], np.float32)
    first, second = (
        written(trained(vectors, moods), MINILM, {mood: Counter(moods)[mood] for mood in MOODS}, ATTRIBUTION)
        for _ in range(2)
    )
    assert first == second
    table = trained(vectors, moods).astype(np.float32)
    assert [MOODS[best] for best in (vectors @ table[:, :-1].T + table[:, -1]).argmax(1)] == moods


def test_every_emotion_has_its_place() -> None:
    labels = DATA / "goemotions.labels.txt"
    if not labels.is_file():
        pytest.skip("needs the public data sets in ../shared/data")
    assert set(labels.read_text("utf-8").split()) == set(MOOD_OF)
    assert set(filter(None, MOOD_OF.values())) | {"bored", "flirty"} == set(MOODS)
    assert not set(own("train").texts) & set(own("test").texts)


def test_the_moods_of_a_policy() -> None:
    """Contact's seed names ten; where people do business nobody flirts."""
    assert CONTACT.moods == MOODS
    for name in set(shipped_policies()) - {"contact"}:
        assert set(MOODS) - set(load_policy(name).mood.moods) == {"flirty"}
    with pytest.raises(ValueError, match="neutral"):
        type(OURS).model_validate(OURS.model_dump() | {"moods": ["happy", "sad"]})


def test_a_mood_outside_the_policys_set_is_never_told() -> None:
    """Of the classifier the next likely mood counts, if it is likely enough; the other steps pass."""
    flirting = {"vector": vector_of("flirty"), "embedding_model": MINILM}
    assert by_vector(**flirting)[0] == "flirty"  # type: ignore[index]
    second = by_vector(**flirting, moods=OURS.moods)
    assert second is not None
    assert second[0] in OURS.moods
    assert second[1] < OURS.classifier_confidence
    for answer in (FLIRTY, "late", None):
        assert read_mood("Hm.", mood=OURS, answer=answer, previous=FLIRTY, **flirting).mood == "neutral"
    assert read_mood("Hm.", mood=CONTACT, answer=FLIRTY) is FLIRTY
    cheerful = CONTACT.model_copy(update={"moods": ("happy", "neutral")})
    assert read_mood("I'm sad, haha", mood=cheerful).mood == "happy"
    assert read_mood("I'm sad", mood=cheerful).mood == "neutral"
    assert in_crisis(BEFORE, cheerful.moods) is BEFORE
    assert in_crisis(SAID, OURS.moods) is SAID


def test_no_romantic_style_where_nobody_flirts() -> None:
    romantic = replace(FLIRTY, mood="happy")
    assert read_mood("Hm.", mood=OURS, answer=romantic).style == "playful"
    assert read_mood("Hm.", mood=CONTACT, answer=romantic).style == "romantic"


def test_ordinary_sentences_of_business_are_not_flirty() -> None:
    from reverie.inference import load_embedder

    embedder = load_embedder("minilm")
    said = Path(__file__).with_name("support_sentences.txt").read_text("utf-8").splitlines()
    assert len(said) == 40
    ten = OURS.model_copy(update={"moods": MOODS})
    vectors = dict(zip(said, embedder.encode(said), strict=True))
    known = "What do you know about me?"
    assert read_mood(known, mood=ten, vector=vectors[known], embedding_model=embedder.model).mood == "flirty"
    told = [read_mood(text, mood=OURS, vector=vectors[text], embedding_model=embedder.model).mood for text in said]
    assert "flirty" not in told
    assert told.count("neutral") >= 30
