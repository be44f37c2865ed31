"""Judges that only match words, by hand; many texts at once as one by one; and the balance that holds them level."""

import numpy as np
import pytest

from tests.cases import each
from umpirical.stimuli.controlled.family_files import builtin_families
from umpirical.stimuli.controlled.ladder.pairs import random_wording, slot_sentences
from umpirical.stimuli.controlled.ladder.quads import RequestBalance
from umpirical.stimuli.controlled.ladder.requests import MATCHERS, MatchTable
from umpirical.stimuli.controlled.tasks import PROSE, Task, joined, member

TASK = Task("t", "f", "d", "A blue bird sings. Name its colours", (), request="Name its colours")


@each(
    ("name", "first", "second", "told"),
    [
        # 1 of 2 words against 1 of 3.
        ("share of words with the request", "Its wings.", "Its long wings.", 1),
        ("share of words with the request", "Blue.", "A bird.", 0),
        ("share of words with the task", "Blue.", "The bird.", 1),
        ("share of stems with the request", "Colour.", "Size.", 1),
        ("share of words with the request", "Colour.", "Size.", 0),
        # Of the triples of "name its colours", "colour" has four of four and "colony" two of four.
        ("share of letters with the request", "Colour.", "Colony.", 1),
        ("share of letters with the task", "Blue bird.", "Red kite.", 1),
        # 1 / sqrt 2 against 2 / sqrt 5: more of the same word, and a longer text.
        ("cosine of words with the request", "Its wings.", "Its its wings.", -1),
        # 1 / sqrt 1 against 2 / sqrt 4.
        ("cosine of words with the request", "Its.", "Its colours are red.", 0),
        ("cosine of letters with the request", "Colours.", "Colourless.", 1),
        ("cosine of letters with the task", "Blue bird.", "Blue cheese.", 1),
        ("coverage of words of the request", "Its colours are red and blue and green.", "Its its its.", 1),
        ("coverage of words of the request", "Its its.", "Its.", 0),
        ("coverage of letters of the request", "Names of colours.", "Names.", 1),
        ("coverage of letters of the task", "A bird.", "A blue bird.", -1),
        *((name, "", "", 0) for name in MATCHERS),
        *((name, "Name its colours.", "", 1) for name in MATCHERS),
    ],
)
def test_by_hand(name, first, second, told):
    assert MATCHERS[name](TASK, first, second) == told
    assert MATCHERS[name](TASK, second, first) == -told


def test_what_is_matched_does_not_depend_on_layout():
    for judge in MATCHERS.values():
        assert judge(TASK, "Its size. Its age.", "- Its age.\n- Its size.") == 0
        assert judge(TASK, "Its size.\n\nIts age.", "Its age.  Its size.") == 0


@pytest.mark.parametrize("family", builtin_families()[::6], ids=lambda family: family.id)
def test_many_texts_at_once_are_told_as_one_by_one(family):
    one, other = family.asked(0).versions
    rng, choices = np.random.default_rng(1), one.wordings
    rows = [
        texts[which % len(texts)]
        for fact in one.facts
        for texts in (fact.forms, fact.fillers)
        for which in range(max(choices))
    ]
    table = MatchTable(rows if one.layout == PROSE else list(map(member, rows)))
    texts, numbers = [], []
    for _ in range(20):
        present, wording = frozenset(rng.choice(10, 5, replace=False).tolist()), random_wording(one, rng)
        texts.append(joined(slot_sentences(one, 0, present, wording), one.layout))
        numbers.append([(2 * n + (n not in present)) * max(choices) + w for n, w in enumerate(wording)])
    first, second = np.array(numbers[:10]), np.array(numbers[10:])
    for task, found in zip((one, other), table.told((one, other), first, second), strict=True):
        for row, *pair in zip(found.tolist(), texts[:10], texts[10:], strict=True):
            assert row == [judge(task, *pair) for judge in MATCHERS.values()]


# The balance. A draw is what each matcher says of it, summed over the two versions.

UP, DOWN, EVEN = ([sign] * len(MATCHERS) for sign in (2, -2, 0))


def best(balance, draws, *, kind="asked", step=1.0):
    return draws[balance.ranked(kind, step, np.array(draws))[0]]


def test_with_nothing_to_even_out_the_draw_that_no_matcher_tells_is_taken():
    assert best(RequestBalance(), [UP, DOWN, EVEN]) == EVEN


def test_after_a_draw_that_matchers_tell_comes_one_that_they_tell_wrongly():
    balance = RequestBalance()
    balance.add("asked", 1.0, UP)
    assert best(balance, [UP, DOWN, EVEN]) == DOWN
    balance.add("asked", 1.0, DOWN)
    assert best(balance, [UP, DOWN, EVEN]) == EVEN


def test_each_step_is_evened_out_and_the_whole_ladder_too_but_not_the_other_ladder():
    balance = RequestBalance()
    for _ in range(4):
        balance.add("asked", 5.0, UP)
    assert best(balance, [UP, EVEN, DOWN], step=1.0) == DOWN
    assert best(balance, [UP, EVEN, DOWN], kind="figures", step=1.0) == EVEN


def test_all_draws_are_ranked():
    draws = np.array([UP, EVEN, DOWN])
    balance = RequestBalance()
    balance.add("asked", 1.0, UP)
    assert balance.ranked("asked", 1.0, draws) == [2, 1, 0]
