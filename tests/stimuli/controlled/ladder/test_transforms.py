"""Surface transforms change how an answer looks, and nothing of what it states."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umpirical.stimuli.controlled.ladder.pairs import facts_at, random_wording, slot_sentences
from umpirical.stimuli.controlled.ladder.transforms import (
    CONTRACTIONS,
    MOST_CONTRACTIONS,
    MOST_WORDS,
    PLAIN,
    REWRITING,
    SPELLINGS,
    SYNONYMS,
    TRANSFORMS,
    canonical,
    transformed,
)
from umpirical.stimuli.controlled.tasks import builtin_tasks
from umpirical.text.sentences import sentences_at_every_stop

TASKS = builtin_tasks()
SENTENCES = ["It is big.", "We do not organise it.", "The colour is usually grey.", "They are not glad."]


def transform(name, parts=SENTENCES, seed=1):
    return transformed(list(parts), name, np.random.default_rng(seed))


def words(text):
    return sorted(text.replace("- ", "").split())


@pytest.mark.parametrize("name", sorted(set(TRANSFORMS) - REWRITING))
@given(task=st.sampled_from(TASKS), index=st.integers(0, 50), level=st.integers(0, 20), seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_layout_and_order_keep_every_word_and_everything_that_is_stated(name, task, index, level, seed):
    rng = np.random.default_rng(seed)
    present = facts_at(task, index, level / 4)
    parts = slot_sentences(task, index, present, random_wording(task, rng))
    text = transform(name, parts, seed)
    assert text is not None
    assert words(text) == words(" ".join(parts))
    assert task.stated(text) == present
    assert (text == " ".join(parts)) == (name == PLAIN)


@pytest.mark.parametrize("name", sorted(REWRITING))
@given(task=st.sampled_from(TASKS), index=st.integers(0, 50), level=st.integers(0, 20), seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_a_rewriting_replaces_a_few_words_by_partners_or_gives_none(name, task, index, level, seed):
    rng = np.random.default_rng(seed)
    parts = slot_sentences(task, index, facts_at(task, index, level / 4), random_wording(task, rng))
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
        ("synonym", "It is large. We do not organise it. The colour is normally grey. They are not happy."),
        ("spelling", "It is big. We do not organize it. The color is usually gray. They are not glad."),
        ("register", "It's big. We don't organise it. The colour is usually grey. They're not glad."),
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


@pytest.mark.parametrize(("table", "name"), [(SYNONYMS, "synonym"), (SPELLINGS, "spelling")])
def test_words_are_replaced_both_ways_and_capitals_are_kept(table, name):
    for old, new in table.items():
        for one, other in ((old, new), (new, old)):
            assert transform(name, [f"{one.capitalize()} {one}."]) == f"{other.capitalize()} {other}."


def test_contractions_are_made_and_not_undone():
    for old, new in CONTRACTIONS.items():
        assert transform("register", [f"{old.capitalize()} so."]) == f"{new.capitalize()} so."
        assert transform("register", [f"{new} so."]) is None


def test_what_may_end_a_clause_or_mean_must_is_not_contracted():
    assert transform("register", ["As it is, we have to do what there is to do."]) is None


def test_only_whole_words_are_replaced_and_only_a_few():
    assert transform("synonym", ["Bigger, unusually."]) is None
    assert transform("synonym", ["big " * 9]).split().count("large") == MOST_WORDS
    assert transform("register", ["you are " * 9]).split().count("you're") == MOST_CONTRACTIONS


def test_no_word_has_two_partners():
    for table in (SYNONYMS, SPELLINGS):
        every = [*table, *table.values()]
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
