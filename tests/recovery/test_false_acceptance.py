"""A judge exactly at a threshold passes it no more often than the policy says, whatever its errors have in common.

Each check is held with as many units in each task family as a size plans for it. The errors of a
family are beta-binomial around the check: two of them agree more often than by chance, by `correlation`. Errors on
graded pairs come as whole crossed pairs, since what hides a difference under one version of a task hides it under
both. With four looks, a quarter of the families is asked before each, and passing at any look counts.

`docs/explanation/judges-tested.md` has every rate over 2,000 runs; `pytest -m slow` on this file draws them too.
"""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.docs.reading import load_script
from tests.stimuli.built import built
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import CallTally, PairTally, QuadTally, Tallies, VacuumTally
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.datasheet.spec import PRESETS, preset
from umpirical.reports.checks import hold_checks
from umpirical.reports.policy import Check, Policy
from umpirical.reports.record import measure_record

HIGHEST = 0.055
"""Share of runs that may pass. The policies promise .05."""

LOOKS = 4

LONGEST = "+200%"
"""The only conflict pairs of one amount that a check is set on."""

KEPT = Path(__file__).parents[2] / "docs" / "explanation" / "judges-tested" / "at_thresholds.json"

COUNTED = ("vacuum", "pairs", "quads", "calls")


@dataclass(frozen=True)
class Counting:
    """How the events of a measure are counted in one task family."""

    family: str
    """The stimuli that have them; empty for every call."""
    tally: Callable[[str, float, int, int], Tallies]
    """Takes the task family, the step, its units and its events."""
    quads: bool = False

    def planned(self, size: str, at: str) -> tuple[int, ...]:
        """How many units each task family has."""
        chosen = [stimulus for stimulus in built(size) if not self.family or stimulus.family == self.family]
        if at:
            chosen = [one for one in chosen if at == (f"{one.delta:g}" if self.quads else one.stratum)]
        if self.family and self.family != Family.BLANK:
            units = {(one.cluster, one.crossed_pair if self.quads else one.id) for one in chosen}
            return tuple(Counter(cluster for cluster, _ in units).values())
        calls = Counter[str]()
        for one in chosen:
            # Two answers that are the same are one prompt.
            calls[one.cluster] += len(set(one.candidates))
        return tuple(calls.values())


def _blank(cluster, _step, units, events):
    return Tallies(vacuum=(VacuumTally(cluster, "baseline", "identical", units, float(events), 0),))


def _equal(outcome):
    def tally(cluster, _step, units, events):
        counts = {outcome: events, "no_preference": units - events}
        return Tallies(pairs=(PairTally(cluster, "baseline", Family.EQUAL, 0.0, units, **counts),))

    return Counting(Family.EQUAL, tally)


def _quad(outcome, family=Family.GRADED):
    def tally(cluster, step, units, events):
        right = events if outcome == "following" else 0
        crossed_pair = QuadTally(
            cluster, "baseline", family, "", step, units, **{outcome: events}, neither=units - events
        )
        pair = PairTally(cluster, "baseline", family, step, 2 * units, correct_calls=4 * right, both_correct=2 * right)
        return Tallies(quads=(crossed_pair,), pairs=(pair,))

    return Counting(family, tally, quads=True)


def _conflict(cluster, _step, units, events):
    """The longer answer wins in so many pairs. Where lengths match, the judge is always right."""
    longer = PairTally(
        cluster, "baseline", Family.CONFLICT, 1.0, units, wrong_calls=2 * events, correct_calls=2 * (units - events),
        stratum=LONGEST,
    )  # fmt: skip
    matched = PairTally(cluster, "baseline", Family.GRADED, 1.0, 2, correct_calls=4, both_correct=2)
    return Tallies(pairs=(longer, matched))


def _calls(outcome):
    def tally(cluster, _step, units, events):
        counts = {outcome: events, "tie": units - events}
        return Tallies(calls=(CallTally(cluster, "baseline", Family.GRADED, "", 1.0, units, **counts),))

    return Counting("", tally)


COUNTINGS = {
    "dark-current": Counting(Family.BLANK, _blank),
    "raw-false-preference": _equal("positional"),
    "positional-false-preference": _equal("positional"),
    "stable-cross-sensitivity": _equal("stable"),
    "target-sensitivity": _quad("following"),
    "task-following": _quad("following"),
    "task-blind-preference": _quad("blind"),
    "figure-sensitivity": _quad("following", Family.FIGURES),
    "figure-following": _quad("following", Family.FIGURES),
    "conflict-excess": Counting(Family.CONFLICT, _conflict),
    "abstention-rate": _calls("abstained"),
    "unparsed-rate": _calls("unparsed"),
    "failure-rate": _calls("failed"),
}


def passes(policy: Policy, check: Check, tallies: Tallies) -> bool:
    spec = MEASURES.get(check.measure)
    measures = [measure_record(spec, found) for found in spec.compute(tallies, "baseline")]
    [held] = hold_checks(policy, "compare", measures, ["baseline"])
    return held.verdict == "PASS"


def pass_rate(policy_name: str, check: Check, *, correlation: float, looks: int, runs: int, size: str) -> float:
    """How often a judge passes whose true rate is the check's."""
    counting, step = COUNTINGS[check.measure], float(check.at if check.at.isdigit() else 5)
    units = np.array(counting.planned(size, check.at))
    rng = np.random.default_rng(round(1000 * correlation) + looks)
    policy = preset(policy_name)
    alone = policy.model_copy(update={"compare": (check.model_copy(update={"cures": ()}),)})

    @cache
    def passing(look: int, counts: tuple[tuple[int, int], ...]) -> bool:
        parts = [counting.tally(f"f{k}", step, *family) for k, family in enumerate(counts)]
        tallies = Tallies(**{name: sum((getattr(part, name) for part in parts), ()) for name in COUNTED})
        return passes(alone.at_look(look), check, tallies)

    passed = 0
    for _ in range(runs):
        rates = np.full(len(units), check.value)
        if correlation:
            kappa = 1 / correlation - 1
            rates = rng.beta(check.value * kappa, (1 - check.value) * kappa, len(units))
        events, order = rng.binomial(units, rates), rng.permutation(len(units))
        shown = [order[: len(units) * look // looks] for look in range(1, looks + 1)]
        # Which family has which counts makes no difference.
        seen = [tuple(sorted((int(units[k]), int(events[k])) for k in part)) for part in shown]
        passed += any(passing(look, counts) for look, counts in enumerate(seen, 1))
    return passed / runs


def checks_held():
    """Every check on a rate, once: policies share many."""
    found = {}
    for name in PRESETS:
        for check in preset(name).compare:
            if check.measure in COUNTINGS:
                found.setdefault((check.measure, check.at, check.value), (name, check))
    return found


CASES = [(name, check) for name, check in checks_held().values()]


def test_every_check_on_a_rate_is_simulated():
    others = {check.measure for name in PRESETS for check in preset(name).compare} - COUNTINGS.keys()
    # Parts are held together: `test_part_recovery.py`.
    assert others == {"missed-differences", "swap-reversals"}


@pytest.mark.parametrize(
    ("size", "runs", "cases"),
    [("screen", 60, CASES[:1]), pytest.param("standard", 2000, CASES, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("looks", [1, LOOKS])
@pytest.mark.parametrize("correlation", [0.0, 0.05, 0.2])
def test_a_judge_at_a_check_is_rarely_accepted(correlation, looks, size, runs, cases):
    rates = {}
    for name, check in cases:
        rate = pass_rate(name, check, correlation=correlation, looks=looks, runs=runs, size=size)
        rates[check.measure, check.at, check.value] = rate
    chance = 3 * np.sqrt(0.05 * 0.95 / runs)
    print(f"correlation {correlation}, {looks} looks:", *rates.items(), sep="\n  ")  # noqa: T201
    assert max(rates.values()) <= HIGHEST + chance, rates


# The page, written by `docs/explanation/judges-tested/write.py`


def test_the_page_has_every_threshold_and_no_rate_above_what_is_promised():
    cells = json.loads(KEPT.read_text())["cells"]
    assert {tuple(cell[:3]) for cell in cells} == {(check.measure, check.at, check.value) for _, check in CASES}
    assert {(looks, correlation) for *_, looks, correlation, _ in cells} == set(product((1, LOOKS), (0.0, 0.05, 0.2)))
    assert max(cell[-1] for cell in cells) <= HIGHEST
    thresholds = load_script(KEPT.parent / "thresholds.py", "judges_at_thresholds")
    assert thresholds.table() in (KEPT.parents[1] / "judges-tested.md").read_text()
