"""The published figures of the Dark Current paper, reproduced from counts to the printed digits."""

import json
from pathlib import Path

import numpy as np
import pytest

from umpirical.domain.tallies import PairTally, Tallies, VacuumTally
from umpirical.measures.spec import MEASURES
from umpirical.stats.bootstrap import cluster_bootstrap, percentile_interval
from umpirical.stats.isotonic import isotonic_fit, threshold
from umpirical.stats.wilson import wilson

GOLDEN = json.loads(Path(__file__).with_name("dark_current.json").read_text())
ROWS = GOLDEN["wilson_rows"]
JUDGES = list(GOLDEN["decomposition"])
STEPS = [1, 2, 3, 4, 5]


def printed(value: float) -> float:
    return round(value, 4)


def test_all_27_rows_are_here():
    assert len(ROWS) == 27


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_wilson_row(row):
    low, high = wilson(row["numerator"], row["denominator"])
    assert printed(row["numerator"] / row["denominator"]) == row["estimate_published"]
    assert [printed(low), printed(high)] == row["ci_published"]


def published_tallies(judge: str) -> Tallies:
    """The paper's counts as tallies: ten tasks of six equal-quality pairs, filled in the order of the classes."""
    counts = GOLDEN["decomposition"][judge]
    classes = ["stable"] * counts["SCS"] + ["positional"] * counts["PFP"] + ["one_sided"] * counts["OSC"]
    classes += ["no_preference"] * counts["NP"]
    pairs = []
    for task in range(10):
        # Every tenth pair, so that the classes are spread over the tasks.
        mine = classes[task::10]
        shares = {name: mine.count(name) for name in ("stable", "positional", "one_sided", "no_preference")}
        ties = 2 * shares["no_preference"] + shares["one_sided"]
        pairs.append(PairTally(f"t{task}", "baseline", "delta0", 0.0, len(mine), tie_calls=ties, **shares))
    return Tallies(pairs=tuple(pairs))


def measured(name: str, tallies: Tallies, stratum: str = ""):
    found = MEASURES.get(name).compute(tallies, "baseline")
    return next(measure.result for measure in found if measure.stratum == stratum)


@pytest.mark.parametrize("judge", JUDGES)
def test_decomposition(judge):
    counts, tallies = GOLDEN["decomposition"][judge], published_tallies(judge)
    names = {
        "SCS": "stable-cross-sensitivity",
        "PFP": "positional-false-preference",
        "OSC": "one-sided-commit",
        "NP": "no-preference",
    }
    for short, name in names.items():
        result = measured(name, tallies)
        assert (result.numerator, result.denominator) == (counts[short], counts["denominator_pairs"])
        if short in counts["published_rates"]:
            assert printed(result.value) == counts["published_rates"][short]
        assert wilson(counts[short], 60) == pytest.approx(counts["pair_wilson"][short], abs=5e-7)


@pytest.mark.parametrize("judge", JUDGES)
def test_equation_7_and_the_tie_identity(judge):
    counts, tallies = GOLDEN["decomposition"][judge], published_tallies(judge)
    raw = measured("raw-false-preference", tallies)
    row = next(row for row in ROWS if row["id"] == f"{judge}.raw_delta0_false_preference")
    assert 2 * raw.numerator == counts["raw_calls"] == row["numerator"]
    assert printed(raw.value) == row["estimate_published"]
    ties = measured("tie-rate", tallies, "0")
    assert 2 * ties.numerator == counts["call_ties"]
    assert raw.value + ties.value == pytest.approx(1)


def test_dark_current_of_the_papers_counts():
    tallies = Tallies(vacuum=tuple(VacuumTally(f"t{n}", "baseline", "empty", 12, 8.0, 0) for n in range(10)))
    result = measured("dark-current", tallies)
    assert (result.numerator, result.denominator, printed(result.value)) == (80, 120, 0.6667)


def constructed_ladder() -> Tallies:
    tasks = GOLDEN["delta75"]["constructed_dataset"]["tasks"]
    return Tallies(
        pairs=tuple(
            PairTally(f"t{task['task']}", "baseline", "ladder", float(step), calls // 2, correct_calls=correct)
            for task in tasks
            for step, correct, calls in zip(STEPS, task["correct"], task["calls"], strict=True)
        )
    )


def test_threshold_of_the_constructed_dataset():
    expected = GOLDEN["delta75"]["constructed_dataset"]["expect"]
    result = measured("detection-threshold", constructed_ladder())
    assert result.value == pytest.approx(expected["delta75_linear"])
    assert result.censoring == "none"
    fit = isotonic_fit([61 / 100, 50 / 80, 44 / 60, 30 / 40, 20 / 20], [100, 80, 60, 40, 20])
    assert fit == pytest.approx(expected["isotonic"])


@pytest.mark.parametrize("seed", range(5))
def test_the_published_bootstrap_interval_of_the_threshold(seed):
    """4.0000 [2.7143, 4.0000]: task bootstrap, interpolated isotonic threshold, percentiles."""
    tasks = GOLDEN["delta75"]["constructed_dataset"]["tasks"]
    sums = np.array([[*task["correct"], *task["calls"]] for task in tasks], dtype=float)

    def thresholds(totals):
        return np.array([threshold(STEPS, isotonic_fit(t[:5] / t[5:], t[5:])).value for t in totals])

    values = cluster_bootstrap(sums, thresholds, rng=np.random.default_rng(seed), replicates=2000)
    low, high = percentile_interval(values)
    assert (printed(low), printed(high)) == (2.7143, 4.0)


@pytest.mark.parametrize("judge", ["Qwen14B", "Qwen32B"])
def test_a_threshold_reached_at_the_first_step_is_left_censored(judge):
    correct = next(row for row in ROWS if row["id"] == f"{judge}.target_sensitivity_delta1")["numerator"]
    pairs = [PairTally(f"t{n}", "baseline", "ladder", 1.0, 5, correct_calls=correct // 10) for n in range(10)]
    pairs += [PairTally(f"t{n}", "baseline", "ladder", 5.0, 1, correct_calls=2) for n in range(10)]
    result = measured("detection-threshold", Tallies(pairs=tuple(pairs)))
    assert (result.value, result.censoring) == (1.0, "left")
    assert result.interval is None or result.interval.low is None
