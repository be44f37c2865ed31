"""Checks on each part of the test cases: the worst part decides."""

import numpy as np
import pytest
from scipy.stats import beta

from umpirical.domain.measures import Estimate, Interval, Undefined
from umpirical.measures.estimates.rates import Counted, clustered_rate
from umpirical.reports.checks import hold_checks
from umpirical.reports.decision import decide, weak_parts
from umpirical.reports.parts import part_words
from umpirical.reports.policy import Check, Condition, Policy
from umpirical.reports.record import GroupedMeasure

UNANSWERED = "without an answer in both orders"


def measured(part, failed, pairs, *, effect=1.0, families=3, missing=0):
    result = Estimate(
        value=failed / pairs, numerator=failed, denominator=pairs, unit="pair", clusters=families,
        interval=Interval(low=0.0, high=1.0, level=0.95, method="exact"), planning_effect=effect,
        excluded={UNANSWERED: missing} if missing else {},
    )  # fmt: skip
    return grouped(part, result)


def grouped(part, result):
    return GroupedMeasure(
        name="missed-differences", title="Large differences missed", about="About.", worse="higher", variant="baseline",
        stratum="", group=part, result=result,
    )  # fmt: skip


def checked(*parts, essential=True, refuses=0.05):
    policy = Policy(
        policy="p",
        about="",
        refuses=refuses,
        compare=(Check(measure="missed-differences", at="each-part", at_most=0.2, essential=essential),),
    )
    (check,) = hold_checks(policy, "compare", parts, ["baseline"])
    return check, decide(policy, [check])


SOUND = (
    measured("format=prose", 1, 150, families=45),
    measured("language=en", 1, 160, families=47),
    measured("domain=how-to", 0, 12),
)


def test_a_part_that_fails_is_named_with_its_counts_and_its_bound():
    check, decision = checked(*SOUND, measured("format=json", 10, 10))
    assert check.verdict == "FAIL"
    (failing,) = check.failing
    assert (failing.part, failing.failed, failing.pairs, failing.families) == ("format=json", 10, 10, 3)
    # Four parts share the error of refusing.
    assert failing.bound == check.bound == pytest.approx(beta.ppf(0.03 / 4, 10, 1))
    assert decision.verdict == "do-not-use"
    assert "It fails on JSON answers." in decision.sentences[0]
    assert decision.not_for == ["JSON answers: large differences missed in 10 of 10 pairs (at least 61%)."]


def test_where_it_is_not_essential_a_failing_part_restricts():
    _, decision = checked(*SOUND, measured("format=json", 10, 10), essential=False)
    assert decision.verdict == "not-enough-data"  # nothing essential was measured
    assert decision.not_for == ["JSON answers: large differences missed in 10 of 10 pairs (at least 61%)."]


def test_a_check_that_passes_says_what_it_could_have_seen():
    check, decision = checked(*SOUND, measured("language=de", 0, 2, families=1))
    assert (check.verdict, check.failing, decision.verdict) == ("PASS", [], "use")
    assert "none of 4 parts fails (must be at most 20%)" in check.why
    # 8 of 12 pairs, and 42 of 150; two pairs can show nothing.
    assert "fails once 29% to 58% of its pairs do; 1 part is too small to show any" in check.why


def test_more_failures_never_pass_where_fewer_fail():
    verdicts = [checked(*SOUND, measured("format=json", n, 10))[0].verdict for n in range(11)]
    assert verdicts == sorted(verdicts, key=["PASS", "FAIL"].index)


def test_the_same_pairs_under_two_names_are_named_once():
    check, _ = checked(*SOUND, measured("format=json", 10, 10), measured("domain=json-extraction", 10, 10))
    assert [one.part for one in check.failing] == ["format=json"]


def test_a_judge_that_fails_everywhere_is_not_told_every_part():
    check, decision = checked(
        measured("format=prose", 140, 150), measured("format=json", 9, 10), measured("language=en", 149, 160)
    )
    assert [(one.part, one.failed, one.pairs) for one in check.failing] == [("", 149, 160)]
    assert "most test cases" in decision.sentences[0]


def test_missing_answers_count_against_the_judge():
    check, decision = checked(*SOUND, measured("format=json", 0, 2, missing=8))
    assert (check.verdict, check.unanswered, decision.verdict) == ("INCONCLUSIVE", 8, "not-enough-data")
    nothing = grouped("format=json", Undefined(reason="no pair", excluded={UNANSWERED: 9}))
    check, _ = checked(*SOUND, nothing)
    assert (check.verdict, check.unanswered) == ("INCONCLUSIVE", 9)


def test_a_run_without_parts_is_not_measured():
    check, decision = checked()
    assert (check.verdict, decision.verdict) == ("N/A", "not-enough-data")


def test_a_check_on_each_part_is_about_failures():
    with pytest.raises(ValueError, match="at_most"):
        Condition(measure="missed-differences", at="each-part", at_least=0.8)


@pytest.mark.parametrize(
    ("part", "words"),
    [("format=list", "answers with lists"), ("language=es", "Spanish texts"), ("domain=support", "support tasks")],
)
def test_the_words_for_a_part(part, words):
    assert part_words(part) == words


# Parts of the user's own data, in studies of labelled pairs and of agents


def weak(*parts):
    check = Check(measure="missed-differences", at_least=0.8)
    return list(weak_parts(parts, [check], {"missed-differences": "it is right in"}, lambda one: one.group))


def test_the_more_parts_there_are_the_more_it_takes_to_call_one_weak():
    low, rest = measured("subset=math", 10, 20), [measured(f"subset={n}", 20, 20) for n in range(20)]
    (alone,) = weak(low)
    high = beta.ppf(1 - 0.025, 11, 10)
    assert alone.startswith("subset=math: it is right in 50% [")
    assert alone.endswith(f", {100 * high:.0f}]")
    assert high < 0.8
    assert weak(low, *rest) == []
    assert len(weak(measured("subset=math", 2, 20), *rest)) == 1


def test_a_judge_exactly_at_the_threshold_in_20_parts_is_seldom_called_weak_in_any():
    rng, runs, parts = np.random.default_rng(1), 40, 20
    shares = rng.beta(0.8 * 19, 0.2 * 19, (runs, parts, 12))
    right = rng.binomial(5, shares)
    named = 0
    for run in right:
        found = [
            clustered_rate([Counted(str(n), y, 5) for n, y in enumerate(part)], unit="pair", empty="", excluded={})
            for part in run.tolist()
        ]
        named += bool(weak(*(grouped(f"subset={n}", one) for n, one in enumerate(found))))
    assert named / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5
