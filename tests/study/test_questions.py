"""Plans to a question: read, held to known numbers, and tried in simulation."""

from decimal import Decimal

import numpy as np
import pytest

from tests.cases import each
from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Measure
from umpirical.measures.catalogue import MEASURES
from umpirical.measures.estimates.rates import PLANNING_CORRELATION, Counted, clustered_rate
from umpirical.reports.checks import one_sided
from umpirical.reports.record import measure_record
from umpirical.study.estimate import Precision, Question, RunEstimate, parse_question, plan_question


def planned(*rows: Precision, calls=336, answered=0, expected="3.36", pricing="priced") -> RunEstimate:
    estimate = RunEstimate.__new__(RunEstimate)
    for name, value in {
        "judge": "mine",
        "calls": calls,
        "answered": answered,
        "pricing": pricing,
        "expected": None if expected is None else Decimal(expected),
        "precision": rows,
    }.items():
        object.__setattr__(estimate, name, value)
    return estimate


def row(units=48, tasks=24, measure="dark-current", stratum="") -> Precision:
    return Precision(measure, "Dark current", "baseline", stratum, "prompt", units, tasks, (0.1, 0.2))


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("dark-current<=0.05", Question("dark-current", "", "at_most", 0.05)),
        (" dark-current <= .05 ", Question("dark-current", "", "at_most", 0.05)),
        ("target-sensitivity@5>=0.9", Question("target-sensitivity", "5", "at_least", 0.9)),
        ("dark-current@empty<=0.1", Question("dark-current", "empty", "at_most", 0.1)),
    ],
)
def test_a_question_is_a_measure_a_part_and_a_check(text, question):
    assert parse_question(text) == question


@each(
    "text",
    ["", "dark-current", "dark-current=0.05", "dark-current<0.05", "dark-current<=1", "dark-current<=0", "<=0.5",
     "dark-current<=nan", "dark-current<=.", "dark-current<=1e-3", "a" * 10_000 + "<=0.5", "dark-current<=0.05;rm"],
)  # fmt: skip
def test_anything_else_is_refused_with_an_example(text):
    with pytest.raises(UsageError, match="invalid question") as refused:
        parse_question(text)
    assert "dark-current<=0.05" in refused.value.fix


def test_a_judge_without_errors_needs_what_wilson_needs():
    # Single prompts, no error: z² (1 - L) / L = 72.99.
    found = plan_question(planned(row(24, 24)), parse_question("dark-current<=0.05"), power=0.9)
    assert [each.true for each in found.needed] == [0, 0.0125, 0.025, 0.0375]
    first = found.needed[0]
    assert (first.units, first.tasks, first.calls, first.dollars) == (73, 73, 1022, Decimal("10.22"))
    # 4 in each of 24 tasks at a correlation of .05 are worth 96 / 1.15 = 83 of them; 3 are worth 65.
    assert first.in_each == 4


def test_more_correlated_units_more_power_and_a_nearer_check_need_more():
    question = parse_question("target-sensitivity@5>=0.9")
    rows = row(32, 16, "target-sensitivity", "5")
    needed = plan_question(planned(rows), question, power=0.9).needed
    assert [each.true for each in needed] == [1, 0.975, 0.95, 0.925]
    assert sorted(each.units for each in needed) == [each.units for each in needed]
    surer = plan_question(planned(rows), question, power=0.97).needed
    assert surer[2].units > needed[2].units
    crowded = plan_question(planned(row(320, 16, "target-sensitivity", "5")), question, power=0.9).needed
    assert crowded[2].units > needed[2].units
    assert needed[3].in_each is None


def test_no_price_is_no_dollars_and_what_is_answered_counts_as_planned():
    found = plan_question(
        planned(row(), calls=0, answered=336, expected="0"), parse_question("dark-current<=0.05"), power=0.9
    )
    assert found.needed[0].dollars is None
    assert found.needed[0].calls == 546


def test_what_is_free_stays_free_where_everything_is_answered():
    run = planned(row(), calls=0, answered=336, expected="0", pricing="free")
    found = plan_question(run, parse_question("dark-current<=0.05"), power=0.9)
    assert [each.dollars for each in found.needed] == [Decimal(0)] * 4


def test_what_the_plan_does_not_have_is_said_with_what_it_has():
    with pytest.raises(UsageError, match="this plan has no rate 'dark'") as refused:
        plan_question(planned(row()), parse_question("dark<=0.05"), power=0.9)
    assert "dark-current" in refused.value.fix
    with pytest.raises(UsageError, match="has no part 'full'") as refused:
        plan_question(planned(row(), row(stratum="empty")), parse_question("dark-current@full<=0.05"), power=0.9)
    assert refused.value.fix == "choose one of: the whole, empty"


def settled(true: float, check: float, *, tasks: int, runs: int, seed: int) -> float:
    """Share of simulated runs that a policy calls within the threshold: two units in each task, correlated at .05."""
    rng = np.random.default_rng(seed)
    spread = (1 - PLANNING_CORRELATION) / PLANNING_CORRELATION
    rates = rng.beta(true * spread, (1 - true) * spread, (runs, tasks)) if true else np.zeros((runs, tasks))
    return float(np.mean([upper(counts) <= check for counts in rng.binomial(2, rates)]))


def upper(counts) -> float:
    """The check from above that a policy looks at."""
    found = clustered_rate(
        [Counted(str(task), float(count), 2) for task, count in enumerate(counts)], unit="prompt", empty="", excluded={}
    )
    measure = measure_record(MEASURES.get("dark-current"), Measure("dark-current", found))
    return one_sided(measure, measure.result, "high", alpha=0.05, count_missing=True)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_in_simulation_about_as_many_runs_settle_it_as_promised(place):
    needed = plan_question(planned(row()), parse_question("dark-current<=0.10"), power=0.9).needed[place]
    assert settled(needed.true, 0.10, tasks=needed.tasks, runs=300, seed=1) >= 0.85
    assert settled(needed.true, 0.10, tasks=max(2, needed.tasks // 3), runs=300, seed=2) <= 0.75
