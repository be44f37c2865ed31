"""The published figures of the Judge Reliability Harness, reproduced from counts; and where they contradict each other.

Appendix G comes out to the printed digits. Of PERSUADE the whole table of eight tests by four judges can be recovered
from the printed means, deviations, extremes and errors; everything printed about it is computed back from its counts.
"""

import json
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2_contingency, fisher_exact, norm

from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import GoldTally, Tallies
from umpirical.measures.catalogue import MEASURES
from umpirical.stats.intervals import wilson

GOLDEN = json.loads(Path(__file__).with_name("judge_reliability.json").read_text())
AGENTIC = GOLDEN["appendix_g"]
JUDGES = GOLDEN["judges"]
PERSUADE = GOLDEN["persuade"]
PRINTED = 0.0051
"""Half a digit of a percentage with two decimals."""


def measured(name: str, tallies: Tallies, stratum: str = "original"):
    found = MEASURES.get(name).compute(tallies, "baseline")
    return next(measure.result for measure in found if measure.stratum == stratum)


def percent(cells: list[str]) -> np.ndarray:
    return np.array([100 * float(Fraction(cell)) for cell in cells])


def statistics(values) -> dict[str, float]:
    """As the appendices print them: the deviation is that of a sample."""
    return {"mean": values.mean(), "sd": values.std(ddof=1), "min": values.min(), "max": values.max()}


def printed_rows(appendix: str, benchmark: str) -> list[dict]:
    return [row for row in GOLDEN[appendix] if row["benchmark"] == benchmark]


# Appendix G: violations found and missed.


def agentic_tallies(row: dict) -> Tallies:
    """32 transcripts, each by itself; positive is a violation."""
    cells = [("violation", "violation", row["TP"]), ("violation", "clean", row["FN"])]
    cells += [("clean", "violation", row["FP"]), ("clean", "clean", row["TN"])]
    pairs = [(gold, given) for gold, given, count in cells for _ in range(count)]
    scale = GradeScale("binary", ("clean", "violation"))
    golds = (
        GoldTally(f"i{n}", "baseline", "original", "", gold, given, scale.score(gold), scale.score(given), 1.0)
        for n, (gold, given) in enumerate(pairs)
    )
    return Tallies(golds=tuple(golds), scale=scale, positive=("violation",))


def printed(value: float) -> Decimal:
    """A rate as the paper prints it: three decimals, half up."""
    return Decimal(repr(value)).quantize(Decimal("0.001"), ROUND_HALF_UP)


MEASURED = {"accuracy": "accuracy", "FPR": "false-positive-rate", "FNR": "false-negative-rate"}


@pytest.mark.parametrize("row", AGENTIC, ids=[row["model"] for row in AGENTIC])
def test_all_four_rates_of_appendix_g(row):
    tallies = agentic_tallies(row)
    for short, name in MEASURED.items():
        assert float(printed(measured(name, tallies).value)) == row["published"][short], short
    assert float(printed(1 - measured("accuracy", tallies).value)) == row["published"]["error_rate"]


def test_twenty_rates_are_printed_and_half_goes_up():
    """Rounding halves to even, as Python does, would miss seven of them."""
    exact = [
        (value, row["published"][short])
        for row in AGENTIC
        for short, value in {
            "accuracy": (row["TP"] + row["TN"]) / 32,
            "error_rate": (row["FP"] + row["FN"]) / 32,
            "FPR": row["FP"] / 16,
            "FNR": row["FN"] / 16,
        }.items()
    ]
    assert len(exact) == 20
    assert all(float(printed(value)) == published for value, published in exact)
    missed = [round(value, 3) for value, published in exact if round(value, 3) != published]
    assert missed == [0.062, 0.812, 0.062, 0.312, 0.812, 0.062, 0.062]


@pytest.mark.parametrize("row", AGENTIC, ids=[row["model"] for row in AGENTIC])
def test_the_percentages_of_the_text_are_those_rates(row):
    tallies = agentic_tallies(row)
    assert 100 * (1 - measured("false-negative-rate", tallies).value) == row["agent_perturbation_pct"]
    assert 100 * (1 - measured("false-positive-rate", tallies).value) == row["agent_positives_pct"]
    balanced = (row["agent_perturbation_pct"] + row["agent_positives_pct"]) / 200
    assert measured("balanced-accuracy", tallies).value == pytest.approx(balanced)


@pytest.mark.parametrize("row", AGENTIC, ids=[row["model"] for row in AGENTIC])
def test_sixteen_items_leave_wide_checks_that_the_paper_does_not_print(row):
    counts = {"accuracy": (row["TP"] + row["TN"], 32), "FPR": (row["FP"], 16), "FNR": (row["FN"], 16)}
    for short, (numerator, denominator) in counts.items():
        result = measured(MEASURED[short], agentic_tallies(row))
        assert (result.numerator, result.denominator) == (numerator, denominator)
        low, high = wilson(numerator, denominator)
        assert [low, high] == pytest.approx(row["wilson"][short], abs=5e-5)
        # Ours has Student's t for the normal quantile, and Clopper-Pearson's caution with few events.
        assert result.interval.low <= low + 0.02
        assert result.interval.high >= high - 0.02
        assert result.interval.high - result.interval.low > 0.2


def test_the_best_trio_is_no_better_than_its_best_member():
    """It was chosen on the same 32 items, and has the counts of two of its judges."""
    trio, single = AGENTIC[-1], AGENTIC[0]
    assert trio["model"] == "Best Trio Ensemble"
    assert all(trio[count] == single[count] for count in ("TP", "FN", "FP", "TN"))


# PERSUADE.


def test_the_table_has_eight_tests_and_four_judges():
    assert len(PERSUADE) == 8
    assert all(len(cells) == len(JUDGES) == 4 for cells in PERSUADE.values())


def cell_tallies(cell: str) -> Tallies:
    right, items = map(int, cell.split("/"))
    scale = GradeScale("ordinal", tuple("123456"))
    golds = (
        GoldTally(f"i{n}", "baseline", "original", "", "3", "3" if n < right else "4", 2.0, 2.0 + (n >= right), 1.0)
        for n in range(items)
    )
    return Tallies(golds=tuple(golds), scale=scale)


@pytest.mark.parametrize("test", PERSUADE)
def test_every_cell_through_the_measure(test):
    for cell in PERSUADE[test]:
        result = measured("accuracy", cell_tallies(cell))
        assert result.value == pytest.approx(float(Fraction(cell)))
        # With ten items even the best cell does not tell a fifth of the scale from another.
        assert result.denominator > 30 or result.interval.high - result.interval.low > 0.4


@pytest.mark.parametrize("judge", JUDGES)
def test_appendix_e_by_judge(judge):
    column = np.array([percent(cells)[JUDGES.index(judge)] for cells in PERSUADE.values()])
    (row,) = [row for row in printed_rows("appendix_e", "Persuade") if row["judge"] == judge]
    for name, value in statistics(column).items():
        assert value == pytest.approx(row[name], abs=PRINTED), name


@pytest.mark.parametrize("test", PERSUADE)
def test_appendix_f_by_test(test):
    (row,) = [row for row in printed_rows("appendix_f", "Persuade") if row["test"] == test]
    for name, value in statistics(percent(PERSUADE[test])).items():
        # One deviation is printed a hundredth too high: see below.
        slack = 0.012 if (test, name) == ("synthetic_ordinal", "sd") else PRINTED
        assert value == pytest.approx(row[name], abs=slack), name


def test_the_sd_printed_as_8_21_computes_to_8_20():
    deviation = percent(PERSUADE["synthetic_ordinal"]).std(ddof=1)
    (row,) = [row for row in printed_rows("appendix_f", "Persuade") if row["test"] == "synthetic_ordinal"]
    assert row["sd"] == 8.21
    assert round(deviation, 2) == 8.20


def test_the_grand_means_of_e_and_f_agree():
    by_judge = np.mean([row["mean"] for row in printed_rows("appendix_e", "Persuade")])
    by_test = np.mean([row["mean"] for row in printed_rows("appendix_f", "Persuade")])
    assert (by_judge, by_test) == (pytest.approx(47.8775), pytest.approx(47.8775))
    assert np.mean([percent(cells) for cells in PERSUADE.values()]) == pytest.approx(47.8775, abs=PRINTED)
    for appendix, mean in (("appendix_e", 70.4075), ("appendix_f", 70.40625)):
        assert np.mean([row["mean"] for row in printed_rows(appendix, "Fortress")]) == pytest.approx(mean)


def squares(appendix: str, benchmark: str, cells: int) -> float:
    """Sum of squares that the means and deviations of so many cells each come to."""
    return sum((cells - 1) * row["sd"] ** 2 + cells * row["mean"] ** 2 for row in printed_rows(appendix, benchmark))


@pytest.mark.parametrize(("benchmark", "slack"), [("Persuade", 1.0), ("Fortress", 10.0)])
def test_the_sums_of_squares_of_e_and_f_agree(benchmark, slack):
    by_judge, by_test = squares("appendix_e", benchmark, 8), squares("appendix_f", benchmark, 4)
    assert by_judge == pytest.approx(by_test, abs=slack)


# Errors of ordinal grades.


def test_concordance_is_never_above_the_correlation_in_all_32_rows():
    assert len(GOLDEN["appendix_d"]) == 32
    assert all(abs(row["ccc"]) <= abs(row["pearson"]) for row in GOLDEN["appendix_d"])


@pytest.mark.parametrize("row", GOLDEN["appendix_d"], ids=[f"{r['judge']}, {r['test']}" for r in GOLDEN["appendix_d"]])
def test_the_mean_error_fits_the_accuracy(row):
    """Of the wrong grades each is off by 1 to 5 steps, so 1 - MAE <= accuracy <= 1 - MAE/5."""
    accuracy = percent(PERSUADE[row["test"]])[JUDGES.index(row["judge"])] / 100
    assert 1 - row["mae"] <= accuracy + 0.0006
    assert accuracy <= 1 - row["mae"] / 5 + 0.0006


def whole_errors(mae: float, items: int) -> list[int]:
    """Sums of absolute errors over so many items that print as this mean."""
    return [total for total in range(5 * items) if round(total / items, 3) == mae]


def test_synthetic_ordinal_has_31_items_for_three_judges_and_32_for_gemini():
    """Though all judges are said to have seen the same items."""
    maes = {row["judge"]: row["mae"] for row in GOLDEN["appendix_d"] if row["test"] == "synthetic_ordinal"}
    sizes = {judge: [items for items in (31, 32) if whole_errors(mae, items)] for judge, mae in maes.items()}
    assert sizes == {judge: [32] if judge == "Gemini 2.5 Pro" else [31] for judge in JUDGES}
    assert PERSUADE["synthetic_ordinal"] == ["18/31", "24/31", "21/32", "22/31"]


def test_stochastic_stability_of_gpt_4o_needs_30_answers_and_not_10():
    """A mean error of 0.933 at 30 % right: 28 steps over 30 answers."""
    (row,) = [r for r in GOLDEN["appendix_d"] if (r["judge"], r["test"]) == ("GPT-4o", "stochastic_stability")]
    assert not whole_errors(row["mae"], 10)
    assert whole_errors(row["mae"], 30) == [28]


# HarmBench.


def fits(value: float, items: int) -> bool:
    return any(abs(100 * count / items - value) <= PRINTED for count in range(items + 1))


def test_harmbench_has_15_items_per_test_and_not_10():
    """The text says ten samples; least and greatest scores are fifteenths, those of repeats 150ths."""
    rows = [row for row in printed_rows("appendix_f", "HarmBench") if row["test"] != "stochastic_stability"]
    extremes = [row[end] for row in rows for end in ("min", "max")]
    assert all(fits(value, 15) for value in extremes)
    assert not all(fits(value, 10) for value in extremes)
    (repeats,) = [row for row in printed_rows("appendix_f", "HarmBench") if row["test"] == "stochastic_stability"]
    assert all(fits(repeats[end], 150) for end in ("min", "max"))
    assert not fits(repeats["max"], 15)


@pytest.mark.parametrize("test", GOLDEN["harmbench"]["in_some_order"])
def test_appendix_f_of_harmbench_from_counts(test):
    (row,) = [row for row in printed_rows("appendix_f", "HarmBench") if row["test"] == test]
    for name, value in statistics(percent(GOLDEN["harmbench"]["in_some_order"][test])).items():
        assert value == pytest.approx(row[name], abs=0.012), name


def test_verbosity_bias_short_is_missing_from_appendix_f_of_harmbench():
    """Seven tests are printed by test; the means by judge are those of eight."""
    by_test = printed_rows("appendix_f", "HarmBench")
    names = {row["test"] for row in by_test}
    assert "verbosity_bias_short" not in names
    assert len(names) == 7
    by_judge = np.mean([row["mean"] for row in printed_rows("appendix_e", "HarmBench")])
    missing = percent(GOLDEN["harmbench"]["missing_row"])
    assert np.mean([row["mean"] for row in by_test]) == pytest.approx(63.7857, abs=1e-4)
    assert by_judge == pytest.approx(64.77)
    assert 8 * by_judge - sum(row["mean"] for row in by_test) == pytest.approx(missing.mean(), abs=0.02)
    left = squares("appendix_e", "HarmBench", 8) - squares("appendix_f", "HarmBench", 4)
    assert left == pytest.approx((missing**2).sum(), abs=15)


# Appendix B.

COSTS = GOLDEN["appendix_b"]


@pytest.mark.parametrize("judge", COSTS["judges"])
def test_the_overall_cost_per_accuracy_point_is_the_plain_mean_of_four_ratios(judge):
    column = COSTS["judges"].index(judge)
    ratios = [row[column] for row in COSTS["rows"].values()]
    assert np.mean(ratios) == pytest.approx(COSTS["overall"][column], abs=5.1e-5)


@pytest.mark.parametrize("judge", COSTS["judges"])
def test_the_rule_that_its_note_states_would_give_three_to_four_times_as_much(judge):
    """Sum of all costs over the mean of all accuracies, with the accuracies of Appendices E and G."""
    column = COSTS["judges"].index(judge)
    (agentic,) = [row for row in AGENTIC if row["model"] == COSTS["agentharm_judges"][column]]
    accuracy = {row["benchmark"]: row["mean"] for row in GOLDEN["appendix_e"] if row["judge"] == judge}
    accuracy["AgentHarm"] = 100 * agentic["published"]["accuracy"]
    costs = [ratios[column] * accuracy[benchmark] for benchmark, ratios in COSTS["rows"].items()]
    stated = sum(costs) / np.mean(list(accuracy.values()))
    assert stated == pytest.approx(COSTS["as_its_note_says"][column], rel=2e-3)
    assert 3.2 < stated / COSTS["overall"][column] < 4


# What ten items can show.


@pytest.mark.parametrize("judge", JUDGES)
def test_volatility_over_tests_is_within_what_ten_items_give_by_chance(judge):
    column = JUDGES.index(judge)
    counts = [tuple(map(int, cells[column].split("/"))) for cells in PERSUADE.values()]
    p = chi2_contingency([(right, items - right) for right, items in counts], correction=False).pvalue
    assert p > 0.05
    assert p == pytest.approx(GOLDEN["not_in_the_paper"]["persuade_homogeneity_p"][column], abs=0.03)


@pytest.mark.parametrize("row", GOLDEN["not_in_the_paper"]["format_against_paraphrase"], ids=lambda r: r["benchmark"])
def test_that_formatting_hurts_more_than_paraphrase_turns_round_on_fortress_and_vanishes_when_pooled(row):
    tables = [[int(part) for part in row[side].split("/")] for side in ("format", "paraphrase")]
    p = fisher_exact([[right, items - right] for right, items in tables]).pvalue
    assert p == pytest.approx(row["fisher_p"], abs=1e-3)
    lower = Fraction(row["format"]) < Fraction(row["paraphrase"])
    assert lower == (row["benchmark"] != "Fortress")
    if row["benchmark"] in ("Persuade", "all"):
        assert p > 0.05


def test_the_counts_of_format_and_paraphrase_are_those_of_the_tables():
    def total(tables, names):
        return sum(int(cell.split("/")[0]) for name in names for cell in tables[name])

    formats = [f"format_invariance_{number}" for number in (1, 2, 3)]
    rows = {row["benchmark"]: row for row in GOLDEN["not_in_the_paper"]["format_against_paraphrase"]}
    for benchmark, tables in (("Persuade", PERSUADE), ("HarmBench", GOLDEN["harmbench"]["in_some_order"])):
        assert total(tables, formats) == int(rows[benchmark]["format"].split("/")[0])
        assert total(tables, ["semantic_paraphrase"]) == int(rows[benchmark]["paraphrase"].split("/")[0])


def test_ten_items_per_test_are_a_fortieth_of_what_an_equivalence_claim_takes():
    """Two one-sided tests at 5 % with a power of 90 %, a margin of .05, and one verdict in ten that differs."""
    reach = norm.ppf(0.95) + norm.ppf(0.95)
    assert reach**2 * 0.10 / 0.05**2 > 40 * 10
