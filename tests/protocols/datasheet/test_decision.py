"""The decision follows from the limits by rule."""

from itertools import product

import pytest

from umpirical.protocols.datasheet.decision import decide, verdict_on
from umpirical.protocols.datasheet.policy import BOTH_ORDERS, LARGE_ONLY, POLICIES, RULES
from umpirical.reports.limits import APART
from umpirical.reports.record import GateRecord, LimitRecord

COMPARE = POLICIES["compare"]
KEYS = [(limit.measure, limit.stratum) for limit in COMPARE]
DARK, RAW, POSITIONAL, STABLE, ONE, FIVE, UNPARSED, FAILED = KEYS


def limits(changed=(), arm="baseline", **more):
    """All limits pass, but for those that are changed."""
    verdicts = dict.fromkeys(KEYS, "PASS") | dict(changed)
    return [
        LimitRecord(
            measure=limit.measure, title=limit.measure.replace("-", " ").capitalize(), arm=arm, stratum=limit.stratum,
            kind=limit.kind, value=limit.value, essential=limit.essential,
            verdict=verdicts[limit.measure, limit.stratum], why="why", unit="pair", **more,
        )
        for limit in COMPARE
    ]  # fmt: skip


def verdict(*changed, **more):
    return decide(COMPARE, limits(changed), **more).verdict


def test_all_limits_pass():
    decision = decide(COMPARE, limits())
    assert decision.verdict == "use"
    assert decision.sentences == ["All 8 limits pass.", "No limit is left unsettled at this size of run."]
    assert decision.not_for == decision.would_change == []
    assert decision.policy == RULES


@pytest.mark.parametrize("key", [DARK, STABLE])
def test_nothing_makes_up_for_these(key):
    assert verdict((key, "FAIL")) == "do-not-use"
    assert verdict((key, "INCONCLUSIVE")) == "not-enough-data"
    assert verdict((key, "N/A")) == "not-enough-data"


@pytest.mark.parametrize(
    ("key", "cure"), [(RAW, BOTH_ORDERS), (POSITIONAL, BOTH_ORDERS), (UNPARSED, APART), (FAILED, APART)]
)
def test_a_way_of_use_makes_up_for_these(key, cure):
    for found in ("FAIL", "INCONCLUSIVE"):
        decision = decide(COMPARE, limits([(key, found)]))
        assert decision.verdict == "use-with-limits"
        assert decision.use_like_this[0] == cure
    assert verdict((key, "N/A")) == "not-enough-data"


@pytest.mark.parametrize(
    ("one", "five", "expected"),
    [
        ("PASS", "INCONCLUSIVE", "use-with-limits"),
        ("PASS", "FAIL", "use-with-limits"),
        ("PASS", "N/A", "use-with-limits"),
        ("FAIL", "PASS", "use-with-limits"),
        ("INCONCLUSIVE", "PASS", "use-with-limits"),
        ("FAIL", "FAIL", "do-not-use"),
        ("FAIL", "INCONCLUSIVE", "not-enough-data"),
        ("FAIL", "N/A", "not-enough-data"),
        ("INCONCLUSIVE", "INCONCLUSIVE", "not-enough-data"),
        ("INCONCLUSIVE", "FAIL", "not-enough-data"),
        ("N/A", "PASS", "not-enough-data"),
    ],
)
def test_small_differences_may_be_missed_if_large_ones_are_seen(one, five, expected):
    decision = decide(COMPARE, limits([(ONE, one), (FIVE, five)]))
    assert decision.verdict == expected
    assert (LARGE_ONLY in decision.use_like_this) == (one != "PASS" and expected == "use-with-limits")


def test_what_breaks_comes_before_what_is_open():
    assert verdict((DARK, "FAIL"), (STABLE, "INCONCLUSIVE")) == "do-not-use"
    assert verdict((DARK, "FAIL"), complete=False) == "do-not-use"


def test_an_incomplete_run_or_a_failed_gate_is_not_enough_data():
    blocking = GateRecord(name="superset", passed=False, found=0.9, allowed=1.0, blocks=True)
    reported = blocking.model_copy(update={"blocks": False})
    assert verdict(complete=False) == "not-enough-data"
    assert verdict(gates=[reported]) == "use"
    decision = decide(COMPARE, limits(), gates=[blocking])
    assert decision.verdict == "not-enough-data"
    assert "the stimuli failed the gate superset" in decision.sentences[0]
    assert decision.would_change


def test_na_never_counts_as_a_pass():
    for key in KEYS:
        assert verdict((key, "N/A")) in {"not-enough-data", "use-with-limits"}
    assert verdict(*((key, "N/A") for key in KEYS)) == "not-enough-data"
    assert decide(COMPARE, []).verdict == "not-enough-data"
    assert decide([], []).verdict == "not-enough-data"


def test_a_worse_verdict_on_one_limit_never_makes_a_better_decision():
    better = {"PASS": 3, "INCONCLUSIVE": 1, "N/A": 1, "FAIL": 0}
    rank = {"use": 3, "use-with-limits": 2, "not-enough-data": 1, "do-not-use": 0}
    for found in product(("PASS", "INCONCLUSIVE", "FAIL"), repeat=4):
        base = list(zip((DARK, RAW, ONE, FIVE), found, strict=True))
        for place, (key, now) in enumerate(base):
            for other in ("INCONCLUSIVE", "FAIL"):
                if better[other] < better[now]:
                    changed = [*base[:place], (key, other), *base[place + 1 :]]
                    assert rank[verdict(*changed)] <= rank[verdict(*base)], (base, changed)


def test_there_are_two_sentences_whatever_happens():
    for found in product(("PASS", "INCONCLUSIVE", "FAIL", "N/A"), repeat=3):
        decision = decide(COMPARE, limits(zip((DARK, POSITIONAL, FIVE), found, strict=True)))
        assert len(decision.sentences) == 2
        assert all(sentence.endswith(".") and len(sentence) > 10 for sentence in decision.sentences)


def test_the_sentences_say_what_decides_and_how_many_more():
    more = {POSITIONAL: 1185}
    held = [
        limit.model_copy(update={"more_needed": more.get((limit.measure, limit.stratum))})
        for limit in limits([(RAW, "FAIL"), (POSITIONAL, "INCONCLUSIVE"), (FIVE, "INCONCLUSIVE")])
    ]
    decides, sure = decide(COMPARE, held).sentences
    assert decides == (
        "5 of 8 limits pass; raw false preference and positional false preference are missed or unsettled, and the "
        "way of use given here makes up for that; target sensitivity at Δ5 is missed or unsettled, and not essential."
    )
    assert sure == (
        "Not settled at this size: positional false preference (about 1,190 more pairs), target sensitivity at Δ5."
    )


def test_what_it_is_good_for_is_said_only_of_a_judge_that_may_be_used():
    assert decide(COMPARE, limits([(DARK, "FAIL")])).good_for == []
    assert decide(COMPARE, limits()).good_for == [
        "Calling equal answers equal, in a single call.",
        "Telling apart answers that differ by one requirement or more.",
    ]
    assert decide(COMPARE, limits([(RAW, "FAIL"), (ONE, "FAIL")])).good_for == [
        "Calling equal answers equal, if both orders are asked.",
        "Telling apart answers that differ by all five requirements.",
    ]


def test_what_it_is_not_for_says_when_it_is_not_settled():
    failed = decide(COMPARE, limits([(STABLE, "FAIL")])).not_for
    unsettled = decide(COMPARE, limits([(STABLE, "INCONCLUSIVE")])).not_for
    assert failed[0].endswith("both orders.")
    assert unsettled[0].endswith("both orders (not settled).")


def test_another_arm_changes_no_verdict_and_is_mentioned_if_it_fares_better():
    own, strict = limits([(STABLE, "FAIL")]), limits(arm="strict")
    decision = decide(COMPARE, [*own, *strict])
    assert decision.verdict == "do-not-use"
    assert decision.use_like_this == ["Consider the prompt of arm strict: by the same rules it comes to “Use”."]
    unmeasured = limits([(DARK, "N/A")], arm="strict")
    assert decide(COMPARE, [*own, *unmeasured]).use_like_this == []
    assert decide(COMPARE, [*limits(), *strict]).use_like_this == decide(COMPARE, limits()).use_like_this


def test_a_run_without_a_baseline_is_judged_by_its_first_arm():
    assert decide(COMPARE, limits([(DARK, "FAIL")], arm="own")).verdict == "do-not-use"


def test_a_policy_of_limits_nobody_held_decides_nothing():
    assert verdict_on(COMPARE, {}, complete=True) == "not-enough-data"
