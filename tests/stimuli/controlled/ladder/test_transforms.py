"""Surface transforms change how an answer looks, and nothing of what it states."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each
from umpirical.stimuli.controlled.family_files import builtin_families, filler_tasks
from umpirical.stimuli.controlled.ladder.pairs import facts_at, random_wording, slot_sentences
from umpirical.stimuli.controlled.ladder.transforms import (
    CONTRACTIONS,
    JSON_TRANSFORMS,
    MOST_CONTRACTIONS,
    MOST_WORDS,
    PLAIN,
    REWRITING,
    SPELLINGS,
    TRANSFORMS,
    canonical,
    transformed,
)
from umpirical.stimuli.controlled.tasks import JSON_LAYOUT, PROSE, joined, statements
from umpirical.text.sentences import sentences_at_every_stop

VERSIONS = [task for family in builtin_families() for task in family.asked(0).versions]
FIGURES = [
    task
    for family in builtin_families()
    if (twin := family.figures(0, 1 % len(family.sets))) is not None
    for task in twin.versions
]
SINGLES = list({task.family: task for task in filler_tasks()}.values())
"""A task of every family with fillers."""
PROSE_TASKS = [task for task in (*VERSIONS, *FIGURES, *SINGLES) if task.layout == PROSE]
JSON_TASKS = [task for task in VERSIONS if task.layout == JSON_LAYOUT]
SENTENCES = ["It is big.", "We do not organise it.", "The colour is usually grey.", "They are not glad."]


def transform(name, parts=SENTENCES, seed=1):
    return transformed(list(parts), name, np.random.default_rng(seed))


def words(text):
    return sorted(text.replace("- ", "").split())


@pytest.mark.parametrize("name", sorted(set(TRANSFORMS) - REWRITING))
@given(task=st.sampled_from(PROSE_TASKS), index=st.integers(0, 50), level=st.integers(0, 5), seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_layout_and_order_keep_every_word_and_everything_that_is_stated(name, task, index, level, seed):
    rng = np.random.default_rng(seed)
    present = facts_at(task, index, level)
    parts = slot_sentences(task, index, present, random_wording(task, rng))
    text = transform(name, parts, seed)
    assert text is not None
    assert words(text) == words(" ".join(parts))
    assert task.stated(text) == present
    assert (text == " ".join(parts)) == (name == PLAIN)


@pytest.mark.parametrize("name", sorted(REWRITING))
@given(task=st.sampled_from(PROSE_TASKS), index=st.integers(0, 50), level=st.integers(0, 5), seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_a_rewriting_replaces_a_few_words_by_partners_or_gives_none(name, task, index, level, seed):
    rng = np.random.default_rng(seed)
    parts = slot_sentences(task, index, facts_at(task, index, level), random_wording(task, rng))
    text = transform(name, parts, seed)
    if text is None:
        return
    changed = [(old, new) for old, new in zip(parts, sentences_at_every_stop(text), strict=True) if old != new]
    assert 1 <= len(changed) <= (MOST_CONTRACTIONS if name == "register" else MOST_WORDS)
    assert all(canonical(old) == canonical(new) for old, new in changed)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("wording", "It is big. We do not organise it. The colour is usually grey. They are not glad."),
        ("list", "- It is big.\n- We do not organise it.\n- The colour is usually grey.\n- They are not glad."),
        ("spelling", "It is big. We do not organize it. The color is usually gray. They are not glad."),
        ("register", "It is big. We don't organise it. The colour is usually grey. They're not glad."),
    ],
)
def test_by_hand(name, text):
    assert transform(name) == text


@pytest.mark.parametrize("name", sorted(REWRITING))
def test_where_there_is_nothing_to_replace_there_is_no_transform(name):
    assert transform(name, ["Cats sleep.", "Dogs bark."]) is None


@pytest.mark.parametrize("name", ["whitespace", "sentence-order"])
def test_one_sentence_has_no_layout_and_no_order(name):
    assert transform(name, ["Cats sleep."]) is None


def test_words_are_replaced_both_ways_and_capitals_are_kept():
    for old, new in SPELLINGS.items():
        for one, other in ((old, new), (new, old)):
            assert transform("spelling", [f"{one.capitalize()} {one}."]) == f"{other.capitalize()} {other}."


def test_contractions_are_made_and_not_undone():
    for old, new in CONTRACTIONS.items():
        assert transform("register", [f"{old.capitalize()} so."]) == f"{new.capitalize()} so."
        assert transform("register", [f"{new} so."]) is None


def test_what_may_end_a_clause_or_mean_must_is_not_contracted():
    assert transform("register", ["As it is, we have to do what there is to do."]) is None


def test_only_whole_words_are_replaced_and_only_a_few():
    assert transform("spelling", ["Greyer, colourful."]) is None
    assert transform("spelling", ["grey " * 9]).split().count("gray") == MOST_WORDS
    assert transform("register", ["you are " * 9]).split().count("you're") == MOST_CONTRACTIONS


def test_no_word_has_two_partners():
    every = [*SPELLINGS, *SPELLINGS.values()]
    assert len(set(every)) == len(every)


def test_paragraphs_have_two_to_five_sentences_and_some_blanks_are_doubled():
    parts = [f"Sentence {n}." for n in range(60)]
    text = transform("whitespace", parts)
    sizes = [len(sentences_at_every_stop(paragraph)) for paragraph in text.split("\n\n")]
    assert all(2 <= size <= 5 for size in sizes[:-1])
    assert "  " in text
    assert ". S" in text.replace("  ", "")


@pytest.mark.parametrize("name", TRANSFORMS)
def test_the_same_generator_gives_the_same_text(name):
    assert transform(name, seed=3) == transform(name, seed=3)


@pytest.mark.parametrize("name", ["whitespace", "sentence-order"])
def test_another_draw_gives_another_text(name):
    parts = [f"Sentence {n}." for n in range(20)]
    assert len({transform(name, parts, seed) for seed in range(10)}) == 10


# The texts of every family that ships.


@each("task", [*VERSIONS, *FIGURES, *SINGLES])
def test_on_the_answers_of_every_family_each_transform_keeps_what_is_stated_or_is_not_used(task):
    """Where a rewriting hides a fact, or makes one of a filler, the maker passes to another wording."""
    hidden = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        present = facts_at(task, seed, 2 + seed % 2)
        parts = slot_sentences(task, seed, present, random_wording(task, rng))
        for name in TRANSFORMS:
            text = transformed(list(parts), name, rng, task.layout)
            if text is None:
                assert name in REWRITING or task.layout == JSON_LAYOUT
                continue
            made = [canonical(part) for part in statements(text, task.layout)]
            own = [canonical(part) for part in statements(joined(parts, task.layout), task.layout)]
            assert sorted(made) == sorted(own)
            hidden += task.stated(text) != present
            assert name in REWRITING or task.stated(text) == present
    assert hidden <= 3


# Objects.

MEMBERS = ['"a": 1', '"b": "two"', '"c": [3]', '"d": null', *(f'"{name}": 5' for name in "efghij")]
SAME = {"a": 1, "b": "two", "c": [3], "d": None, **dict.fromkeys("efghij", 5)}


def of_object(name, seed=1):
    return transformed(list(MEMBERS), name, np.random.default_rng(seed), JSON_LAYOUT)


def test_an_object_has_three_transforms_and_no_others():
    assert [name for name in TRANSFORMS if of_object(name) is not None] == list(JSON_TRANSFORMS)
    assert list(JSON_TRANSFORMS) == ["wording", "whitespace", "sentence-order"]


@each("name", JSON_TRANSFORMS)
@each("seed", range(10))
def test_an_object_stays_the_same_object(name, seed):
    assert json.loads(of_object(name, seed)) == SAME


def test_objects_by_hand():
    rng = np.random.default_rng(1)
    assert transformed(MEMBERS[:2], PLAIN, rng, JSON_LAYOUT) == '{\n  "a": 1,\n  "b": "two"\n}'
    assert {transformed(MEMBERS[:2], "whitespace", rng, JSON_LAYOUT) for _ in range(20)} == {
        '{"a": 1, "b": "two"}',
        '{\n    "a": 1,\n    "b": "two"\n}',
    }
    assert {transformed(MEMBERS[:2], "sentence-order", rng, JSON_LAYOUT) for _ in range(20)} == {
        '{\n  "b": "two",\n  "a": 1\n}',
        None,
    }


@each("task", JSON_TASKS)
@each("name", JSON_TRANSFORMS)
def test_the_objects_of_a_family_state_under_a_transform_what_they_stated(task, name):
    rng = np.random.default_rng(1)
    for level in range(6):
        present = facts_at(task, level, level)
        parts = slot_sentences(task, level, present, random_wording(task, rng))
        text = transformed(parts, name, rng, JSON_LAYOUT)
        assert task.stated(text) == present
        assert isinstance(json.loads(text), dict)
