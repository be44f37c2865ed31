"""Similarity by wording: known values, what every measure must do, and how it ranks real essays."""

import csv
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.timing import QUADRATIC, growth
from umpirical.stats.seeds import generator
from umpirical.stimuli import similarity
from umpirical.stimuli.similarity import Lexical, Similarity

ESSAYS = Path(__file__).parents[3].parent / "shared" / "data" / "persuade" / "essays.csv"

MEASURE: Similarity = Lexical()

any_text = st.text(alphabet=st.characters(), max_size=80)


@pytest.mark.parametrize(
    ("one", "other", "value"),
    [
        ("", "", 1),
        ("", "abcd", 0),
        ("   ", "", 0),
        ("abcd", "efgh", 0),
        # One word of each is shared, and of runs of four letters "abcd" alone of ("abcd", "bcd ", "cd e", ...).
        ("abcd", "abcd efgh", (1 / math.sqrt(2) + 1 / math.sqrt(6)) / 2),
        # Counts go by their logarithm: 1 + log 3 against 1.
        ("one one one", "one two", None),
    ],
)
def test_known_values(one, other, value):
    if value is None:
        weight = 1 + math.log(3)
        words = weight / math.sqrt(weight**2 * 2)
        assert words == pytest.approx(1 / math.sqrt(2))
        runs_of_one = {"one ": 2, "ne o": 2, "e on": 2, " one": 2}
        runs_of_other = {"one ": 1, "ne t": 1, "e tw": 1, " two": 1}
        shared = (1 + math.log(runs_of_one["one "])) * runs_of_other["one "]
        lengths = math.sqrt(4 * (1 + math.log(2)) ** 2) * math.sqrt(4)
        value = (words + shared / lengths) / 2
    assert MEASURE.between(one, other) == pytest.approx(value)


def test_case_and_blank_space_do_not_count():
    assert MEASURE.between("It  RAINED\nall day", "it rained all day") == pytest.approx(1)


def test_order_of_words_counts_little_and_words_count_much():
    text = "the dog saw the cat in the garden of the house"
    turned = "the cat saw the dog in the house of the garden"
    assert MEASURE.between(text, turned) > 0.85
    assert MEASURE.between(text, "a ship left port under full sail at noon") < 0.15


def test_it_is_no_measure_of_meaning():
    assert MEASURE.between("Vaccines are safe and they do work.", "Vaccines are not safe and they do not work.") > 0.7


@settings(deadline=None)
@given(any_text, any_text)
def test_what_every_measure_must_do(one, other):
    value = MEASURE.between(one, other)
    assert 0 <= value <= 1
    assert value == pytest.approx(MEASURE.between(other, one))
    assert MEASURE.between(one, one) == 1
    assert MEASURE.to_each(one, [other, one, ""]) == [value, 1, MEASURE.between(one, "")]


def test_it_names_itself_and_its_check():
    assert MEASURE.name == "lexical/1"
    assert MEASURE.near_copy == 0.75


def test_comparing_all_with_all_takes_no_more_than_that():
    def work(size, mark):
        texts = [
            " ".join([mark, *(f"word{(number * step) % 997}" for step in range(400))]) for number in range(1, size + 1)
        ]
        for text in texts:
            MEASURE.to_each(text, texts)

    assert growth(work, size=15) < QUADRATIC


@pytest.fixture(scope="module")
def essays():
    if not ESSAYS.exists():
        pytest.skip("needs the essays in ../shared/data/persuade")
    with ESSAYS.open(encoding="utf-8", newline="") as file:
        return [(row["prompt_name"], row["full_text"]) for row in csv.DictReader(file)]


def replaced(text, share, rng, pool):
    return " ".join(pool[rng.integers(len(pool))] if rng.random() < share else word for word in text.split())


def test_no_two_essays_by_two_people_are_near_copies(essays):
    same, other = [], []
    for (one_subject, one), (other_subject, another) in combinations(essays, 2):
        (same if one_subject == other_subject else other).append(MEASURE.between(one, another))
    assert max(same) < 0.67 < MEASURE.near_copy
    assert max(other) < 0.59
    assert np.median(same) > np.median(other) + 0.1


@pytest.mark.parametrize(("share", "least"), [(0.1, 0.89), (0.2, 0.80)])
def test_an_essay_with_some_words_replaced_is_a_near_copy(essays, share, least):
    rng = generator(1, "replaced")
    texts = [text for _, text in essays]
    pool = " ".join(texts[:10]).split()
    values = [MEASURE.between(text, replaced(text, share, rng, pool)) for text in texts]
    assert min(values) > least > MEASURE.near_copy


def test_a_second_text_against_the_same_many_others_costs_little(monkeypatch):
    computed = []
    monkeypatch.setattr(
        similarity, "_weighted", lambda features, weigh=similarity._weighted: computed.append(1) or weigh(features)
    )
    others = [f"text {number} among the many others, number {number}" for number in range(5000)]
    MEASURE.to_each("one text of some words", others)
    computed.clear()
    values = MEASURE.to_each("another text of many words", others)
    # A text has two kinds of features, and the one that is new is all that is looked at.
    assert len(computed) == 2
    assert values[:50] == [MEASURE.between("another text of many words", other) for other in others[:50]]


def test_values_are_those_of_plain_cosines():
    texts = ["", "ab", "the cat sat", "The cat sat on the mat.", "x" * 50, "mat the on sat"]
    for one in texts:
        for other in texts:
            (ids, weights), (other_ids, other_weights) = similarity._computed(one), similarity._computed(other)
            held = dict(zip(other_ids.tolist(), other_weights.tolist(), strict=True))
            pairs = zip(ids.tolist(), weights.tolist(), strict=True)
            plain = sum(weight * held.get(number, 0.0) for number, weight in pairs)
            assert MEASURE.between(one, other) == pytest.approx(1.0 if one == other else plain)
