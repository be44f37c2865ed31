"""How often a stress decision errs: judges exactly at a threshold, and judges that meet all of them."""

from functools import partial

import numpy as np
import pytest

from umpirical.domain.measures import Estimate, Interval, Measure
from umpirical.protocols.stress.policy import SHELF
from umpirical.stats.agreement import Ratings, concordance, partial_correlation

from .samples import SPECS, mean, measures, rate, report, stress_test

ACCEPTED = {"use", "use-with-restrictions"}
LOOKS = (40, 60, 80, 100)
RUNS = [pytest.param(60, id="small"), pytest.param(2_000, id="whole", marks=pytest.mark.slow)]


def drawn(rng, clusters, per, agreement, within):
    """Gold and grades of so much agreement, alike within clusters; and lengths that have nothing to do with either."""
    count, cluster = clusters * per, np.repeat(np.arange(clusters), per)

    def scores():
        shared, own = rng.standard_normal(clusters)[cluster], rng.standard_normal(count)
        return np.sqrt(within) * shared + np.sqrt(1 - within) * own

    gold = scores()
    return gold, agreement * gold + np.sqrt(1 - agreement**2) * scores(), cluster, rng.random((count, 2))


def estimate(found, count):
    return Estimate(
        found.value, found.value * count, count, "item", Interval(found.low, found.high, method="x"), found.clusters
    )


HIGH = mean(0.95, 0.9, 0.98)

AT = {
    "weighted-kappa": (0.40, lambda ratings, _: concordance(ratings)),
    "agreement-beyond-length": (0.20, partial_correlation),
}


def verdict(name, data, *, look):
    """What the decision says of a judge of which this agreement was measured, and all else is in order."""
    gold, given, cluster, lengths = data
    found = AT[name][1](Ratings(gold, given, np.ones(len(gold)), cluster), lengths)
    parts = {"original": [(other, HIGH if other != name else estimate(found, len(gold))) for other in AT]}
    policy = SHELF.preset().model_copy(update={"look": look})
    return report("x", parts=parts, policy=policy).decision.verdict


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("within", [0, 0.05, 0.2])
@pytest.mark.parametrize("name", AT)
def test_a_judge_exactly_at_a_threshold_is_rarely_accepted(name, within, runs):
    rng = np.random.default_rng(3)
    once = often = 0
    for _ in range(runs):
        gold, given, cluster, lengths = drawn(rng, LOOKS[-1], 2, AT[name][0], within)
        seen = [tuple(side[: 2 * clusters] for side in (gold, given, cluster, lengths)) for clusters in LOOKS]
        told = [verdict(name, data, look=look) in ACCEPTED for look, data in enumerate(seen, 1)]
        once, often = once + told[0], often + any(told)
    slack = 3 * np.sqrt(0.05 * 0.95 / runs)
    assert once / runs <= 0.05 + slack
    assert often / runs <= 0.05 + slack


def judged(rng, *, tests, changed):
    """A judge that changes so many verdicts under each of some tests, as its margin allows."""
    named = [stress_test("vertical-spacing", name=f"spacing-{number}") for number in range(tests)]
    found = []
    for test in named:
        count = int(rng.binomial(120, changed))
        shift = Measure("shift-equivalence", mean(0.0, -0.01, 0.01, 120, level=0.90), stratum=test.name)
        found += [
            (SPECS["change-rate"], Measure("change-rate", rate(count, 120), stratum=test.name)),
            (SPECS["shift-equivalence"], shift),
        ]
    return report("x", parts={}, measured=[*measures({}), *found], tests=named, calls=[])


@pytest.mark.parametrize("runs", RUNS)
def test_a_judge_that_meets_every_threshold_is_rarely_refused_by_any_of_twelve_tests(runs):
    made = partial(judged, np.random.default_rng(3), tests=12, changed=0.05)
    reports = [made() for _ in range(runs)]
    refused = sum(one.decision.verdict == "do-not-use" for one in reports)
    alone = sum("FAIL" in {cell.verdict for cell in one.verdicts} for one in reports)
    assert refused / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
    assert alone > refused  # each by itself, at 95%


def test_a_narrow_miss_among_many_checks_leaves_the_decision_open():
    reports = [judged(np.random.default_rng(seed), tests=12, changed=0.06) for seed in range(20)]
    narrow = next(
        one for one in reports if one.decision.verdict != "do-not-use" and "FAIL" in {c.verdict for c in one.verdicts}
    )
    assert narrow.decision.verdict == "not-enough-data"
