"""The published figures of the Dark Current paper, reproduced from counts to the printed digits."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from umpirical.domain.tallies import PairTally, Tallies, VacuumTally
from umpirical.measures.catalogue import MEASURES
from umpirical.stats.intervals import wilson
from umpirical.stats.isotonic import isotonic_fit, threshold

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
        pairs.append(PairTally(f"t{task}", "baseline", "equal", 0.0, len(mine), tie_calls=ties, **shares))
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
            PairTally(f"t{task['task']}", "baseline", "graded", float(step), calls // 2, correct_calls=correct)
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

    # Whole tasks are drawn with replacement, never the calls inside them.
    drawn = np.random.default_rng(seed).multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=2000) @ sums
    values = [threshold(STEPS, isotonic_fit(t[:5] / t[5:], t[5:])).value for t in drawn]
    low, high = np.percentile(values, [2.5, 97.5])
    assert (printed(low), printed(high)) == (2.7143, 4.0)


@pytest.mark.parametrize("judge", ["Qwen14B", "Qwen32B"])
def test_a_threshold_reached_at_the_first_step_is_left_censored(judge):
    correct = next(row for row in ROWS if row["id"] == f"{judge}.target_sensitivity_delta1")["numerator"]
    pairs = [PairTally(f"t{n}", "baseline", "graded", 1.0, 5, correct_calls=correct // 10) for n in range(10)]
    pairs += [PairTally(f"t{n}", "baseline", "graded", 5.0, 1, correct_calls=2) for n in range(10)]
    result = measured("detection-threshold", Tallies(pairs=tuple(pairs)))
    assert (result.value, result.censoring) == (1.0, "left")
    assert result.interval is None or result.interval.low is None


def spread_over_tasks(calls: int, tasks: int = 10) -> list[int]:
    """As evenly as whole calls allow."""
    return [calls // tasks + (task < calls % tasks) for task in range(tasks)]


def row_counts(judge: str, metric: str) -> int:
    return next(row for row in ROWS if row["id"] == f"{judge}.{metric}")["numerator"]


def published_steps(judge: str, variant: str) -> list[PairTally]:
    """Tie calls at equal quality, and correct, tie and wrong calls at steps 1 and 5, ten tasks each."""
    ties = spread_over_tasks(row_counts(judge, "delta0_tie_rate"))
    tallies = [PairTally(f"t{n}", variant, "equal", 0.0, 6, tie_calls=count) for n, count in enumerate(ties)]
    for step, pairs in ((1, 5), (5, 1)):
        correct = spread_over_tasks(row_counts(judge, f"target_sensitivity_delta{step}"))
        # Dealt from the other end, so that a task's calls do not come to more than it has.
        tie = spread_over_tasks(row_counts(judge, f"delta{step}_tie_rate"))[::-1]
        tallies += [
            PairTally(
                f"t{n}",
                variant,
                "graded",
                float(step),
                pairs,
                correct_calls=c,
                tie_calls=t,
                wrong_calls=2 * pairs - c - t,
            )
            for n, (c, t) in enumerate(zip(correct, tie, strict=True))
        ]
    return tallies


@pytest.mark.parametrize(
    ("judge", "wrong", "miss_by_tie", "non_tie"),
    [
        ("Llama8B", 39, 0.0, 0.61),
        ("Qwen14B", 0, 0.0, 1.0),
        ("Qwen32B", 0, 0.06, 1.0),
        ("Qwen32B_strict", 0, 0.5, 1.0),
    ],
)
def test_what_is_not_correct_at_step_1(judge, wrong, miss_by_tie, non_tie):
    """Equations 9 and 12: wrong 0.0000 and non-tie accuracy 1.0000 of the strict variant are stated in the paper."""
    tallies = Tallies(pairs=tuple(published_steps(judge, "baseline")))
    assert 2 * measured("wrong-choice-rate", tallies, "1").numerator == wrong
    assert printed(measured("tie-rate", tallies, "1").value) == miss_by_tie
    assert printed(measured("committed-accuracy", tallies, "1").value) == non_tie
    assert measured("wrong-choice-rate", tallies, "5").value == 0


def test_the_criterion_shift_of_the_strict_variant():
    """Equation 11: 89 to 120 ties of 120 at equal quality, 6 to 50 of 100 at step 1, none of 20 at step 5."""
    pairs = published_steps("Qwen32B", "baseline") + published_steps("Qwen32B_strict", "strict")

    def shift(name: str, step: str):
        found = MEASURES.get(name).compute(Tallies(pairs=tuple(pairs)), "strict")
        return next(measure.result for measure in found if measure.stratum == step)

    assert shift("criterion-shift", "0").value == pytest.approx(31 / 120)
    assert shift("criterion-shift", "1").value == pytest.approx(44 / 100)
    assert shift("sensitivity-shift", "1").value == pytest.approx(-44 / 100)
    for step in ("0", "1"):
        assert shift("criterion-shift", step).interval.low > 0
        assert shift("criterion-shift-test", step).value < 0.01
    # "Step 5 is preserved" rests on 20 of 20: a loss of a tenth and more is not excluded.
    preserved = shift("sensitivity-shift", "5")
    assert preserved.value == 0
    assert preserved.interval.low < -0.1


@pytest.mark.parametrize("judge", JUDGES)
def test_the_four_classes_are_everything(judge):
    tallies = published_tallies(judge)
    names = ("stable-cross-sensitivity", "positional-false-preference", "one-sided-commit", "no-preference")
    parts = [measured(name, tallies) for name in names]
    assert sum(part.numerator for part in parts) == 60
    stable, positional, one_sided, _ = (part.value for part in parts)
    assert measured("raw-false-preference", tallies).value == pytest.approx(stable + positional + one_sided / 2)


def test_stable_pairs_of_qwen14b_are_what_chance_makes():
    """27 stable and 32 positional of 60: a judge that names either position at random would give 30 and 30.

    How often it named each position is not published; that no position was favoured is our reading.
    """
    plain = published_tallies("Qwen14B").pairs
    calls = [2 * tally.pairs - tally.tie_calls for tally in plain]
    pairs = tuple(
        replace(tally, position_1_calls=n // 2 + n % 2, position_2_calls=n // 2)
        for tally, n in zip(plain, calls, strict=True)
    )
    excess = measured("excess-stable", Tallies(pairs=pairs))
    assert excess.value == pytest.approx(27 / 60 - 0.5, abs=0.01)
    assert excess.interval.low < 0 < excess.interval.high


def test_one_sided_commits_of_qwen32b_hide_what_a_lean_to_a_slot_would_show():
    """5 positional, 21 one-sided, 34 neither: a judge that names one position in 26 % of calls, and else ties."""
    rate = GOLDEN["decomposition"]["Qwen32B"]["raw_calls"] / 120
    expected = [60 * rate**2, 60 * 2 * rate * (1 - rate), 60 * (1 - rate) ** 2]
    assert [round(value) for value in expected] == [4, 23, 33]
    leaning = Tallies(
        pairs=tuple(
            replace(
                tally, one_sided_position_1=tally.one_sided, position_1_calls=2 * tally.positional + tally.one_sided
            )
            for tally in published_tallies("Qwen32B").pairs
        )
    )
    assert measured("one-sided-slot", leaning).value == 1
    assert measured("slot-1-rate", leaning).value == pytest.approx(31 / 120)
    excess = measured("excess-positional", leaning)
    assert excess.interval.low < 0 < excess.interval.high
