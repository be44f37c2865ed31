"""Similarity by subject. The model itself is tried where its files are installed; the rest is tried everywhere."""

import hashlib
import sys
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from umpirical.domain.errors import UsageError
from umpirical.stimuli.similarity import FIX, MODEL, TOKENIZER, Embedding, _installed_file, installed_embedding

NEEDED = ("onnxruntime", "tokenizers", MODEL[0], TOKENIZER[0])


@pytest.fixture(scope="module")
def measure():
    if missing := [package for package in NEEDED if find_spec(package) is None]:
        pytest.skip(f"needs {', '.join(missing)}: {FIX}")
    return installed_embedding()


def test_subjects_are_told_apart(measure):
    rain = "It rained all day, and the streets of the town were under water."
    flood = "After hours of heavy showers the roads were flooded."
    shares = "The company paid a higher dividend to its shareholders this year."
    assert measure.between(rain, flood) > 0.5
    assert measure.between(rain, shares) < 0.2
    assert measure.between(rain, flood) == pytest.approx(measure.between(flood, rain))
    assert measure.to_each(rain, [flood, rain]) == [measure.between(rain, flood), 1.0]


def test_the_end_of_a_long_text_counts(measure):
    body = "Trains leave from the old station every hour of the day. " * 60
    assert measure.between(body, body + "Bees make honey in summer. " * 60) < 0.95


@pytest.mark.parametrize("text", ["", " ", "\ud800", "🙂", "x" * 20_000])
def test_any_text_has_an_embedding(measure, text):
    assert 0 <= measure.between(text, "A plain sentence.") <= 1
    assert measure.between(text, text) == 1


def test_it_is_no_measure_of_meaning(measure):
    assert measure.between("The drug is safe for children.", "The drug is not safe for children.") > 0.7


# Without the model


class FakeTokenizer:
    """One token for each character."""

    def __init__(self):
        self.called = []

    @classmethod
    def from_file(cls, _path):
        return cls()

    def no_truncation(self):
        self.called.append("no_truncation")

    def no_padding(self):
        self.called.append("no_padding")

    def encode(self, text, *, add_special_tokens):
        assert not add_special_tokens
        assert text.isprintable() or not text
        return SimpleNamespace(ids=[ord(letter) % 50 for letter in text])

    def token_to_id(self, token):
        return {"[CLS]": 101, "[SEP]": 102}[token]


class FakeSession:
    """Embeds a token as a unit vector along its number; keeps what it was given."""

    def __init__(self, _path, *, providers):
        assert providers == ["CPUExecutionProvider"]
        self.given = []

    def run(self, names, given):
        assert names == ["last_hidden_state"]
        assert {key: value.shape for key, value in given.items()} == dict.fromkeys(
            ("input_ids", "attention_mask", "token_type_ids"), given["input_ids"].shape
        )
        self.given.append(given["input_ids"][0].tolist())
        return [np.eye(128)[given["input_ids"]]]


@pytest.fixture
def fake(monkeypatch, tmp_path):
    for name, attribute, value in (
        ("onnxruntime", "InferenceSession", FakeSession),
        ("tokenizers", "Tokenizer", FakeTokenizer),
    ):
        module = ModuleType(name)
        setattr(module, attribute, value)
        monkeypatch.setitem(sys.modules, name, module)
    return Embedding(tmp_path / "model.onnx", tmp_path / "tokenizer.json")


def test_the_cosine_of_mean_token_embeddings(fake):
    # [CLS], [SEP] and three tokens each, of which one is shared: 3 of 5 in common.
    assert fake.between("abc", "axy") == pytest.approx(3 / 5)
    assert fake.between("abc", "abc") == 1
    assert fake.to_each("abc", ["axy", "abc"]) == [fake.between("abc", "axy"), 1.0]


def test_a_long_text_is_read_in_windows_and_each_text_once(fake):
    fake.between("a" * 254 + "b" * 10, "c")
    fake.between("a" * 254 + "b" * 10, "d")
    given = fake._session.given
    assert [len(window) for window in given] == [256, 12, 3, 3]
    assert {(window[0], window[-1]) for window in given} == {(101, 102)}
    assert fake._tokenizer.called == ["no_truncation", "no_padding"]


def test_a_second_text_against_the_same_many_others_is_all_that_is_read(fake):
    others = [f"{number:04}" for number in range(5000)]
    fake.to_each("abc", others)
    fake._session.given.clear()
    values = fake.to_each("0012", others)
    assert fake._session.given == []
    assert values[12] == 1
    assert values[:20] == [fake.between("0012", other) for other in others[:20]]


def test_a_window_counts_by_its_length(fake):
    mostly_a = "a" * 254 + "b" * 10
    assert fake.between(mostly_a, "a" * 100) > 0.99
    assert fake.between(mostly_a, "b" * 100) < 0.5


def test_empty_text_and_surrogates(fake):
    assert 0 < fake.between("", "a") < 1
    assert 0 <= fake.between("\ud800", "a") <= 1


def test_a_missing_package_is_said_with_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(UsageError, match="require the package onnxruntime") as caught:
        Embedding(tmp_path / "model.onnx", tmp_path / "tokenizer.json")
    assert "umpirical[embeddings]" in caught.value.fix
    assert "--no-deps" in caught.value.fix


def test_files_are_looked_for_without_importing_their_packages(monkeypatch, tmp_path):
    package = tmp_path / "some_weights"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('was imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UsageError, match=r"the package some_weights has no file model\.onnx"):
        _installed_file("some_weights", "model.onnx", "")
    (package / "model.onnx").write_bytes(b"weights")
    right = hashlib.sha256(b"weights").hexdigest()
    assert _installed_file("some_weights", "model.onnx", right) == package / "model.onnx"
    with pytest.raises(UsageError, match="it is not the tested version"):
        _installed_file("some_weights", "model.onnx", right[::-1])
    with pytest.raises(UsageError, match="package no_such_weights, which is not installed"):
        _installed_file("no_such_weights", "model.onnx", right)
