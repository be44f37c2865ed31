"""Which test cases come next, if a run stops as soon as it is decided."""

from collections import Counter

import pytest

from tests.stimuli.built import built
from umpirical.domain.stimuli import Family
from umpirical.runs.rounds import COARSE, FIRST, LATER, Place, most_rounds, next_round

SET = built("screen")
KNOWN = {stimulus.id: stimulus for stimulus in SET}


def calls(ids):
    return sum(len(set(KNOWN[one].candidates)) for one in ids)


def rounds(seed=1, wanted=None):
    asked, number = [], 0
    while chosen := next_round(SET, Place(seed, number), asked=set(asked), wanted=wanted):
        asked += chosen
        number += 1
        yield chosen


class Only:
    """Wants one family, so many groups of it."""

    def __init__(self, family, groups):
        self.family, self.left = family, groups

    def worth(self, group):
        return float(self.left > 0 and group[0].family == self.family)

    def take(self, _group):
        self.left -= 1


def test_everything_is_asked_once_in_rounds_that_grow():
    found = list(rounds())
    everything = [one for chosen in found for one in chosen]
    assert sorted(everything) == sorted(KNOWN)
    sizes = [calls(chosen) for chosen in found]
    # The last group of a round may be larger than what was left: a crossed pair is four calls.
    assert all(size <= most + 3 for size, most in zip(sizes, [*FIRST, *[LATER] * len(sizes)], strict=False))
    assert len(found) <= most_rounds(calls(everything))


def test_the_versions_of_a_crossed_pair_are_never_apart():
    for chosen in rounds():
        pairs = Counter(KNOWN[one].crossed_pair for one in chosen if KNOWN[one].crossed_pair)
        assert set(pairs.values()) <= {2}


def test_the_first_rounds_show_what_gives_a_broken_judge_away():
    first = [KNOWN[one] for _, chosen in zip(range(COARSE), rounds(), strict=False) for one in chosen]
    assert {stimulus.family for stimulus in first} == {Family.BLANK, Family.EQUAL, Family.GRADED}
    assert {stimulus.delta for stimulus in first if stimulus.family == Family.GRADED} == {5.0}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_task_families_take_turns_in_every_part(seed):
    """After any round, no family is ahead of another by more than one test case of a part that both have left."""
    asked = Counter()
    for chosen in rounds(seed):
        asked.update((KNOWN[one].family, KNOWN[one].delta, KNOWN[one].cluster) for one in chosen)
        for family, delta in {key[:2] for key in asked}:
            whole = Counter(s.cluster for s in SET if (s.family, s.delta) == (family, delta) and not s.crossed_pair)
            left = {cluster: asked[family, delta, cluster] for cluster, n in whole.items() if family == Family.EQUAL}
            behind = [done for cluster, done in left.items() if done < whole[cluster]]
            assert not behind or max(left.values()) - min(behind) <= 1


def test_a_round_follows_from_the_seed_and_from_what_was_asked():
    assert list(rounds()) == list(rounds())
    assert next(rounds(1)) != next(rounds(2))


def test_only_what_is_wanted_is_asked_and_no_more_of_it():
    [chosen] = rounds(wanted=Only(Family.BLANK, 3))
    assert [KNOWN[one].family for one in chosen] == [Family.BLANK] * 3
    assert list(rounds(wanted=Only("none", 3))) == []


def test_a_round_has_no_more_calls_than_are_left():
    assert calls(next_round(SET, Place(1, 5, calls=10))) <= 13
    assert next_round(SET, Place(1, 5, calls=0)) == []


def test_rounds_are_counted_as_they_are_made():
    assert [most_rounds(n) for n in (0, 1, 16, 17, 48, 240, 241, 496, 497)] == [0, 1, 1, 2, 2, 4, 5, 5, 6]
