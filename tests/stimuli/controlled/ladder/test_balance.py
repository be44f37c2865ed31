"""Of several wordings, the one is taken that evens out what surface features have spoken for."""

import pytest

from umpirical.stimuli.controlled.trivial import Balancer

LONG, SHORT = "a bird sings", "a bird"
TASK = "t"


def chosen(balancer, draws, *, family="graded", step=1.0):
    return draws[balancer.choose(TASK, draws, family=family, step=step)]


def test_after_a_longer_better_answer_comes_a_shorter_one():
    balancer = Balancer()
    assert chosen(balancer, [(LONG, SHORT)]) == (LONG, SHORT)
    assert chosen(balancer, [(LONG, SHORT), (SHORT, LONG)]) == (SHORT, LONG)


def test_with_nothing_to_even_out_the_pair_that_no_feature_speaks_for_is_taken():
    assert chosen(Balancer(), [(LONG, SHORT), (SHORT, LONG), (SHORT, SHORT)]) == (SHORT, SHORT)


@pytest.mark.parametrize("draws", [[(LONG, SHORT), (SHORT, LONG)], [(SHORT, LONG), (LONG, SHORT)]])
def test_over_many_pairs_neither_is_favoured(draws):
    balancer = Balancer()
    found = [chosen(balancer, draws) for _ in range(40)]
    assert found.count((LONG, SHORT)) == 20


def test_families_are_evened_out_apart():
    balancer = Balancer()
    for _ in range(5):
        chosen(balancer, [(LONG, SHORT)], family="equal")
    assert balancer.choose(TASK, [(LONG, SHORT), (SHORT, SHORT)], family="graded", step=1.0) == 1
    assert balancer.choose(TASK, [(SHORT, LONG), (SHORT, SHORT)], family="equal", step=1.0) == 0


def test_each_step_is_evened_out_and_the_whole_family_too():
    balancer = Balancer()
    for _ in range(4):
        chosen(balancer, [(LONG, SHORT)], step=5.0)
    assert chosen(balancer, [(LONG, SHORT), (SHORT, LONG)], step=1.0) == (SHORT, LONG)
    assert chosen(balancer, [(LONG, SHORT), (SHORT, LONG)], step=5.0) == (SHORT, LONG)
