"""Labelled messages become tokens and spans, and a network becomes the same numbers in ONNX."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

from reverie.inference.minilm.onnx import MiniLM
from training.reader.messages import NAMES, beside, find, joined, message, unasked, voices, weak


def test_spans_are_found_in_their_clause_first() -> None:
    text = "Ann is here. My sister Ann lives in Leeds."
    assert find("Ann", "", text, (13, len(text))) == (1, 23, 26)
    assert find("Ann", "Is Ann in?", "yes", (0, 3)) == (0, 3, 6)
    assert find("An", "", text, (0, len(text))) is None


def test_a_line_has_its_labels_by_place() -> None:
    line = {
        "t": "we switched the shop from Wix to Shopify",
        "s": [{"r": "uses", "o": "Shopify", "tp": "shop", "x": "Wix", "p": "begins"}],
    }
    (label,) = message(line, "a", "train").labels
    assert NAMES[label.relation] == "uses"
    assert (label.object, label.topic, label.replaced) == ((1, 33, 40), (1, 16, 20), (1, 26, 29))


def test_joined_messages_keep_their_labels() -> None:
    lines = [
        {"t": "what a day", "s": []},
        {"t": "my sister Ann is vegan", "s": [{"r": "diet", "o": "vegan", "h": "my sister Ann"}]},
        {"t": "Thanks! I'm 34.", "s": [{"r": "age", "o": "34", "c": "I'm 34"}]},
    ]
    messages = [message(line, "a", "train") for line in lines]
    longest = max((each for seed in range(9) for each in joined(messages, 3, seed)), key=lambda each: len(each.text))
    assert longest.text == "what a day. my sister Ann is vegan. Thanks! I'm 34."
    said = [[longest.text[place[1] : place[2]] for place in (each.object, each.clause)] for each in longest.labels]
    assert said == [["vegan", "my sister Ann is vegan"], ["34", "I'm 34"]]
    of_two = [*messages[:1], message(lines[1], "b", "train"), message(lines[2] | {"q": "Well?"}, "b", "train")]
    assert not list(joined(of_two, 3, seed=1))


def test_what_is_read_beside_small_talk_keeps_its_labels_and_nothing_is_added() -> None:
    lines = [
        {"t": "my sister Ann is vegan", "s": [{"r": "diet", "o": "vegan", "h": "my sister Ann"}]},
        {"t": "what a day", "s": []},
        {"t": "do you like rain?", "s": []},
        {"t": "translate: 'I am a vet'", "s": []},
    ]
    made = list(beside([message(line, name, "train") for name, line in zip("abcd", lines, strict=True)], 200, seed=3))
    stating = [each for each in made if each.labels]
    assert len(stating) == 100 and {each.voice for each in stating} == {"a"}
    for each in stating:
        (label,) = each.labels
        assert [each.text[place[1] : place[2]] for place in (label.object, label.clause) if place] == [
            "vegan", lines[0]["t"]
        ]  # fmt: skip
        assert "translate" not in each.text, "it could be what the fact belongs to"
    assert {each.text.endswith("?") for each in stating} == {True, False}
    assert {each.text.startswith("my sister") for each in stating} == {True, False}


def test_an_answer_is_read_without_its_question_only_if_it_can_be() -> None:
    lines = [
        {"q": "And you?", "t": "same here, I have had two cats since May", "s": [{"r": "has_pet", "o": "two cats"}]},
        {"q": "Do you like jazz?", "t": "yes very much, I have it on all day", "s": [{"r": "likes", "o": "jazz"}]},
        {"q": "Any pets?", "t": "two cats", "s": [{"r": "has_pet", "o": "two cats"}]},
        {"t": "I have had two cats since May, both black", "s": [{"r": "has_pet", "o": "two cats"}]},
    ]  # fmt: skip
    messages = [message(line, "a", "train") for line in lines]
    assert [(each.question, each.text) for each in unasked(messages, 1, seed=1)] == [("", lines[0]["t"])]


def test_every_labelled_line_of_every_voice_can_be_trained_on() -> None:
    assert len(list(voices())) > 12_000
    assert {each.weight for each in weak()} == {0.5}


def test_states_of_the_training_are_those_of_the_embedder() -> None:
    states = pytest.importorskip("training.reader.states")
    (encoded,) = states.LowerLayers(2).encode([("How old?", "I'm 34 now")])
    minilm = MiniLM(threads=1)
    ids = [np.array([each.ids], np.int64) for each in minilm.tokens(["How old?", "I'm 34 now"])]
    both = np.concatenate([minilm.middle(each)[0] for each in ids])
    np.testing.assert_allclose(encoded.states, both, atol=1e-2)


def test_onnx_gives_what_the_network_gives() -> None:
    jax = pytest.importorskip("jax", reason="trains the reader: make reader")
    from training.reader import export, network

    parameters = jax.tree.map(np.asarray, network.start(jax.random.key(0), 2))
    states = np.random.default_rng(0).normal(size=(3, 20, 384)).astype(np.float32)
    side = np.ones((3, 20), np.int64)
    letters = np.arange(60).reshape(3, 20) % 4
    session = onnxruntime.InferenceSession(export.spans_model(parameters))
    hidden, keys, spans, something = session.run(None, {"states": states, "side": side, "letters": letters})
    real, heads = np.ones((3, 20), bool), parameters["heads"]
    wanted = network.upper(parameters, {"side": side, "letters": letters, "real": real}, states, None)
    np.testing.assert_allclose(hidden, wanted, atol=1e-4)
    by_width = np.asarray(network.spans(heads, wanted))
    for first, last in ((0, 0), (3, 9), (12, 19)):
        width = heads["width"][last - first]
        np.testing.assert_allclose(spans[:, first, last] + width, by_width[:, first, last - first], atol=2e-2)
    np.testing.assert_allclose(something[:, 0], network.message(heads, wanted, real), atol=1e-3)

    places = np.array([[3], [0], [7]]), np.array([[5], [0], [19]])
    features = np.asarray(network.features(wanted, real, *places))
    of, aspects = network.objects(heads, features, None)
    found = aspects | network.pointers(heads, of, wanted, real)
    session = onnxruntime.InferenceSession(export.objects_model(parameters))
    given = session.run(None, {"features": features[:, 0], "keys": keys})
    names = [each.name.replace("_", ".") for each in session.get_outputs()]
    assert set(names) == set(found)
    for name, values in zip(names, given, strict=True):
        np.testing.assert_allclose(values, found[name][:, 0], atol=2e-2)


def test_layers_in_whole_numbers_say_nearly_the_same_and_the_same_alone() -> None:
    jax = pytest.importorskip("jax", reason="trains the reader: make reader")
    from training.reader import export, network, whole

    parameters = jax.tree.map(np.asarray, network.start(jax.random.key(0), 2))
    (encoded,) = pytest.importorskip("training.reader.states").LowerLayers(2).encode([("", "I'm 34 now, and in Oslo")])
    states = np.stack([encoded.states] * 3).astype(np.float32)
    states[1:] += np.random.default_rng(0).normal(size=states[1:].shape, scale=0.1).astype(np.float32)
    given = {"states": states, "side": np.ones(states.shape[:2], np.int64)}
    given["letters"] = given["side"] * 0
    watched = export.spans_model(parameters, watched=True)
    (exact,) = onnxruntime.InferenceSession(watched).run(["hidden"], given)
    ranges = export.ranges_of(watched, [given])
    assert len(ranges) == 4 * 6
    session = onnxruntime.InferenceSession(export.spans_model(whole.in_whole_numbers(parameters, ranges)))
    (hidden,) = session.run(["hidden"], given)
    assert np.abs(hidden - exact).mean() < 0.1 * np.abs(exact).mean()
    for row in range(3):
        (alone,) = session.run(["hidden"], {name: values[row : row + 1] for name, values in given.items()})
        np.testing.assert_allclose(alone[0], hidden[row], atol=1e-4)


def test_the_published_reader_is_written_anew_as_it_is() -> None:
    pytest.importorskip("jax", reason="trains the reader: make reader")
    from training.reader import export

    spans, objects = ((export.FOLDER / name).read_bytes() for name in ("reader.onnx", "objects.onnx"))
    parameters = export.parameters_of(spans, objects)
    assert export.spans_model(parameters) == spans
    assert export.objects_model(parameters) == objects
