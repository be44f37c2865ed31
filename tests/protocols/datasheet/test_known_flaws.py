"""Judges with one known flaw: the first finding and the profile name it, and no sentence names another.

Noise is not bias: a judge that flips at random, or guesses on some tasks, is called inconsistent, and never biased.
"""

import hashlib
from functools import cache

import pytest

from tests.protocols.datasheet.in_process import count
from tests.stimuli.built import built
from umpirical.domain.stimuli import GivenWinner
from umpirical.measures.catalogue import measure_all
from umpirical.protocols.datasheet.findings import FLAWS, find, sketch
from umpirical.protocols.datasheet.spec import preset
from umpirical.reports.checks import hold_checks
from umpirical.reports.record import measure_record

SIZE = "standard"


@cache
def truth():
    """What is right for every pair in both orders, and the task family that it is of."""
    right, family = {}, {}
    for stimulus in built(SIZE):
        u, v = stimulus.candidates[0], stimulus.candidates[-1]
        better = stimulus.expectation.candidate if isinstance(stimulus.expectation, GivenWinner) else None
        for first, second, names in ((u, v, "12"), (v, u, "21")):
            right[stimulus.task, first, second] = "tie" if better is None else names[better]
            family[stimulus.task] = stimulus.cluster
    return right, family


def sound(task, first, second):
    return truth()[0].get((task, first, second), "tie")


def chance(*seen):
    """A number from 0 to 1 that depends on what was seen, and on nothing else."""
    return int.from_bytes(hashlib.blake2b("\0".join(seen).encode(), digest_size=6).digest()) / 2**48


class Drawn:
    """A judge that draws: the same numbers in every test, and others each time that it is asked."""

    def __init__(self, rule):
        self.rule, self.asked = rule, 0

    def __call__(self, task, first, second):
        self.asked += 1
        return self.rule(lambda name="": chance(name, str(self.asked)), task, first, second)


def guess(draw):
    return "12"[draw("side") < 0.5]


def flips(share):
    """So many of its answers are drawn at random."""
    return lambda draw, *seen: ("1", "2", "tie")[int(3 * draw("which"))] if draw("flip") < share else sound(*seen)


def guesses_where(rule):
    return lambda draw, task, first, second: guess(draw) if rule(task, first, second) else sound(task, first, second)


def locked_where(rule):
    return lambda _, *seen: "1" if rule(*seen) and seen[1] != seen[2] else sound(*seen)


def family_of(task):
    return truth()[1].get(task, "")


@cache
def middle_length():
    by_family = {}
    for _, first, _ in truth()[0]:
        by_family[first] = len(first)
    lengths = sorted(length for length in by_family.values() if length > 50)
    return lengths[len(lengths) // 2]


def is_long(_, first, second):
    return first != second and max(len(first), len(second)) > middle_length()


def half_of_tasks(task, first, second):
    return bool(first.strip()) and first != second and chance(family_of(task)) < 0.5


def one_domain(task, first, second):
    return bool(first.strip()) and first != second and chance("domain", family_of(task)) < 0.12


def longer(_draw, _task, first, second):
    if not first.strip() or first == second:
        return "tie"
    return "tie" if len(first) == len(second) else "12"[len(second) > len(first)]


def task_blind(_draw, _task, first, second):
    """A fixed taste."""
    if not first.strip() or first == second:
        return "tie"
    return "12"[chance(second) > chance(first)]


JUDGES = {
    # The flaw that is named first, others that may be named, and the profile.
    "sound": (sound, "", set(), "vacuum-clean and target-sensitive"),
    "flips 2%": (flips(0.02), "swap-inconsistency", set(), "vacuum-clean and target-sensitive"),
    "flips 10%": (flips(0.10), "swap-inconsistency", {"dark-current"}, "inconsistent"),
    "flips 25%": (flips(0.25), "swap-inconsistency", {"dark-current"}, "inconsistent"),
    "a coin": (lambda draw, *_: guess(draw), "swap-inconsistency", {"dark-current"}, "target-blind"),
    "guesses on half of the tasks": (
        guesses_where(half_of_tasks), "error-clustering", {"swap-inconsistency"}, "guessing on some tasks",
    ),
    "guesses in one domain": (
        guesses_where(one_domain), "error-clustering", {"swap-inconsistency"}, "guessing on some tasks",
    ),
    "right on short answers only": (
        guesses_where(is_long), "error-clustering", {"swap-inconsistency"}, "guessing on some tasks",
    ),
    "position 1 on long answers": (
        locked_where(is_long), "positional-false-preference", {"error-clustering"}, "presentation-conflicted",
    ),
    "always position 1": (lambda *_: "1", "positional-false-preference", {"dark-current"}, "slot-driven"),
    "always a tie": (lambda *_: "tie", "tie-rate", set(), "target-blind"),
    "longer wins": (
        longer, "length-preference", {"task-blind-preference", "stable-cross-sensitivity"}, "target-blind",
    ),
    "a fixed taste": (task_blind, "task-blind-preference", {"stable-cross-sensitivity"}, "target-blind"),
}  # fmt: skip


def described(judge, repeats=1):
    """The flaws that findings name, in their order, and the profile."""
    rule = judge if judge is sound else Drawn(judge)
    tallies = count(rule, built(SIZE), repeats=repeats)
    names = set(FLAWS) | {"flip-rate", "excess-stable", "raw-false-preference", "target-sensitivity"}
    found = measure_all(tallies, kind="compare", protocol="datasheet", only=names)
    measures = [measure_record(spec, measure) for spec, measure in found]
    checks = hold_checks(preset("adjudication"), "compare", measures, ["baseline"])
    said = find(measures, checks)
    starts = {name: words.split("{")[0] for name, words in FLAWS.items()}
    starts["positional-false-preference"] = "It follows the position"
    starts["swap-inconsistency"] = ("It is inconsistent", "When the two answers are swapped")
    flaws = [name for sentence in said for name, start in starts.items() if sentence.startswith(start)]
    return flaws, said, sketch(measures, checks)


@pytest.mark.parametrize("name", JUDGES)
def test_the_true_flaw_is_named_first_and_no_other(name):
    judge, first, others, profile = JUDGES[name]
    flaws, said, found = described(judge)
    assert flaws[:1] == ([first] if first else []), said
    assert set(flaws) <= {first, *others}, said
    assert found.name == profile, (found, said)


@pytest.mark.parametrize("name", ["flips 10%", "guesses on half of the tasks"])
def test_with_repeats_the_flip_rate_is_among_the_first_findings(name):
    judge, first, others, profile = JUDGES[name]
    flaws, said, found = described(judge, repeats=2)
    assert flaws[0] == first
    assert set(flaws) <= {first, *others}
    assert any(sentence.startswith("Asked the same question again") for sentence in said[: len(flaws) + 1])
    assert found.name == profile
