"""Two judges that are the same are told apart in at most one comparison in twenty, whatever the number of rows."""

import numpy as np
import pytest

from tests.recovery.outcome_sampling import DESIGN, sample_run
from umpirical.domain.stimuli import Family
from umpirical.measures.estimates.differences import differences_between
from umpirical.protocols.datasheet.comparison.families import standings
from umpirical.protocols.datasheet.policy_files import preset
from umpirical.reports.record import result_record
from umpirical.stats.simulation.judge import LatentJudge

JUDGES = {
    "careful": LatentJudge(1.5, 0.9, 0.2, 0.4, 0.01),
    "hasty": LatentJudge(0.6, 0.3, 0.5, 0.6, 0.02),
}

LIMITED = {limit.key for limit in preset().compare}

ROWS = tuple(kind for kind in DESIGN if kind.family in (Family.DELTA0, Family.LADDER))

SIZES = [pytest.param(150, id="150"), pytest.param(2000, id="2000", marks=pytest.mark.slow)]


def compared(one: LatentJudge, other: LatentJudge, rng):
    """The standings of all rows of one comparison, and their intervals."""
    first, second = (sample_run(judge, rng, tasks=20, design=ROWS) for judge in (one, other))
    rows = list(differences_between(first, second, "baseline", "baseline"))
    found = [result_record(row.result) for row in rows]
    return found, standings(found, [(row.name, row.stratum) in LIMITED for row in rows])


@pytest.mark.parametrize("runs", SIZES)
@pytest.mark.parametrize("name", JUDGES)
def test_identical_judges_differ_in_one_comparison_in_twenty(name, runs):
    rng = np.random.default_rng([runs, list(JUDGES).index(name)])
    alone, primary, hints = [], [], []
    for _ in range(runs):
        found, standing = compared(JUDGES[name], JUDGES[name], rng)
        alone.append(any(one.kind == "estimate" and one.interval.low * one.interval.high > 0 for one in found))
        primary.append(any(one.shown for one in standing if one.family == "primary"))
        hints.append(any(one.shown for one in standing if one.family == "exploratory"))
    # Three binomial standard errors above .05.
    most = 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
    assert np.mean(primary) <= most
    assert np.mean(hints) <= most
    # Each row by its own interval: what the correction is for.
    assert np.mean(alone) > 0.15


def test_a_judge_that_is_worse_is_told():
    rng = np.random.default_rng(7)
    shown = [
        sum(one.shown for one in compared(JUDGES["careful"], JUDGES["hasty"], rng)[1] if one.family == "primary")
        for _ in range(10)
    ]
    assert min(shown) >= 1
