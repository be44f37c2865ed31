"""The decision follows from the checks by rule."""

import re
from itertools import product

import pytest

from umpirical.protocols.datasheet.spec import preset
from umpirical.reports.checks import settling
from umpirical.reports.decision import EXIT_CODES, RULES, decide, tally, verdict_on
from umpirical.reports.record import CheckRecord, ConditionRecord, CureRecord, GateRecord

POLICY = preset()
CHECKS = POLICY.compare
KEYS = [check.key for check in CHECKS]
DARK, RAW, POSITIONAL, STABLE, ONE, FIVE = KEYS[:6]
UNPARSED = next(key for key in KEYS if key[0] == "unparsed-rate")
ESSENTIAL = [check.key for check in CHECKS if check.essential]
BOTH, UNREAD = (CHECKS[KEYS.index(key)].cures[0].way for key in (RAW, UNPARSED))
STATES = {"PASS": "met", "FAIL": "broken", "INCONCLUSIVE": "open", "N/A": "open"}


def checks(changed=(), variant="baseline", cured=(), **more):
    """All checks pass, but for those that are changed; those that are cured are made up for by their first way."""
    verdicts = dict.fromkeys(KEYS, "PASS") | dict(changed)
    return [
        CheckRecord(
            measure=check.measure, title=check.measure.replace("-", " ").capitalize(), variant=variant,
            stratum=check.at,
            kind=check.kind, value=check.value, essential=check.essential, verdict=verdicts[check.key],
            state="made up for" if check.key in cured else STATES[verdicts[check.key]],
            way=check.cures[0].way if check.key in cured else "", why="why", unit="pair",
            good_for=check.good_for, not_for=check.not_for, **more,
        )
        for check in CHECKS
    ]  # fmt: skip


def verdict(*changed, cured=(), **more):
    return decide(POLICY, checks(changed, cured=cured), **more).verdict


def test_all_checks_pass():
    decision = decide(POLICY, checks())
    assert decision.verdict == "use"
    assert decision.sentences == [f"All {len(KEYS)} checks passed.", "No check is inconclusive."]
    assert decision.not_for == decision.would_change == []
    assert decision.policy[:-1] == RULES
    assert "at most 5% of runs" in decision.policy[-1]


def test_the_decision_in_one_line():
    assert decide(POLICY, checks()).line == f"Use (policy ranking): All {len(KEYS)} checks passed."


def test_what_a_command_exits_with():
    assert EXIT_CODES == {"use": 0, "use-with-restrictions": 0, "do-not-use": 3, "not-enough-data": 4}


@pytest.mark.parametrize("key", ESSENTIAL)
def test_an_essential_check_refuses_or_leaves_open(key):
    assert verdict((key, "FAIL")) == "do-not-use"
    assert verdict((key, "INCONCLUSIVE")) == "not-enough-data"
    assert verdict((key, "N/A")) == "not-enough-data"


@pytest.mark.parametrize("found", ["FAIL", "INCONCLUSIVE", "N/A"])
def test_what_is_not_essential_restricts(found):
    for key in set(KEYS) - set(ESSENTIAL):
        assert verdict((key, found)) == "use-with-restrictions"


@pytest.mark.parametrize(("key", "way"), [(RAW, BOTH), (UNPARSED, UNREAD)])
def test_a_way_of_use_makes_up_for_these(key, way):
    for found in ("FAIL", "INCONCLUSIVE"):
        decision = decide(POLICY, checks([(key, found)], cured=[key]))
        assert decision.verdict == "use-with-restrictions"
        assert decision.use_like_this[0] == way


def condition(more, verdict="INCONCLUSIVE"):
    return ConditionRecord(
        measure="both-orders-sensitivity", stratum="5", kind="at_least", value=0.9, verdict=verdict, more_needed=more
    )


def test_an_open_check_is_settled_the_shortest_way():
    (one, *_) = [check for check in checks([(POSITIONAL, "INCONCLUSIVE")]) if check.state == "open"]
    far = one.model_copy(update={"more_needed": 5000})
    near, unknown = (CureRecord(way="Way.", needs=[condition(more)], works=False) for more in (40, None))
    assert settling(far) == [far]
    assert settling(far.model_copy(update={"cures": [unknown, near]})) == near.needs
    assert settling(one.model_copy(update={"state": "met"})) == []


def test_what_breaks_comes_before_what_is_open():
    assert verdict((DARK, "FAIL"), (FIVE, "INCONCLUSIVE")) == "do-not-use"


@pytest.mark.parametrize("changed", [[], [(DARK, "FAIL")]])
def test_an_incomplete_run_or_a_failed_gate_is_not_enough_data_whatever_the_checks_say(changed):
    blocking = GateRecord(name="superset", passed=False, found=0.9, allowed=1.0, blocks=True)
    reported = blocking.model_copy(update={"blocks": False})
    unfinished = decide(POLICY, checks(changed), unfinished="9 of 90 calls failed")
    assert unfinished.verdict == "not-enough-data"
    assert unfinished.sentences[0].endswith(". The run is incomplete: 9 of 90 calls failed.")
    assert verdict(gates=[reported]) == "use"
    decision = decide(POLICY, checks(changed), gates=[blocking])
    assert decision.verdict == "not-enough-data"
    assert "The test cases failed the gate superset." in decision.sentences[0]
    assert decision.would_change


@pytest.mark.parametrize("found", list(product(("PASS", "FAIL", "INCONCLUSIVE", "N/A"), repeat=3)))
def test_the_counts_of_checks_add_up_to_their_number(found):
    said = decide(POLICY, checks(zip((DARK, STABLE, FIVE), found, strict=True))).sentences[0]
    if found == ("PASS",) * 3:
        assert said == f"All {len(KEYS)} checks passed."
        return
    counted = {"passed": 0, "failed": 0, "inconclusive": 0, "not measured": 0}
    score = re.search(r"\d+ of \d+ checks passed[^.]*", said)[0].replace(f"of {len(KEYS)} checks ", "")
    for number, word in re.findall(r"(\d+) (?:is |are |was |were )?(passed|failed|inconclusive|not measured)", score):
        counted[word] = int(number)
    assert sum(counted.values()) == len(KEYS)
    passed, failed, unsettled, absent = (found.count(each) for each in ("PASS", "FAIL", "INCONCLUSIVE", "N/A"))
    assert list(counted.values()) == [len(KEYS) - 3 + passed, failed, unsettled, absent]


def test_the_worst_failure_comes_first():
    bounds = {DARK: 0.06, ONE: 0.1, UNPARSED: 0.5}
    held = [
        check.model_copy(update={"bound": bounds.get((check.measure, check.stratum))})
        for check in checks([(key, "FAIL") for key in bounds])
    ]
    said = decide(POLICY, held).sentences[0]
    names = ("target sensitivity at a 1-requirement difference", "unparsed rate", "dark current")
    assert said.startswith(f"It fails on {names[0]}, {names[1]} and {names[2]}. No recommended use")


def test_a_tally_of_one_and_of_none():
    assert tally(["PASS"]) == "The only check passed"
    assert tally(["FAIL"]) == "0 of 1 check passed and 1 failed"
    assert tally([]) == "0 of 0 checks passed"
    assert tally(["PASS", "N/A", "N/A"]) == "1 of 3 checks passed and 2 were not measured"


def test_na_never_counts_as_a_pass():
    for key in KEYS:
        assert verdict((key, "N/A")) in {"not-enough-data", "use-with-restrictions"}
    assert verdict(*((key, "N/A") for key in KEYS)) == "not-enough-data"
    assert decide(POLICY, []).verdict == "not-enough-data"


def test_a_worse_verdict_on_one_check_never_makes_a_better_decision():
    better = {"PASS": 3, "INCONCLUSIVE": 1, "FAIL": 0}
    rank = {"use": 3, "use-with-restrictions": 2, "not-enough-data": 1, "do-not-use": 0}
    for found in product(("PASS", "INCONCLUSIVE", "FAIL"), repeat=3):
        base = list(zip((DARK, STABLE, FIVE), found, strict=True))
        for place, (key, now) in enumerate(base):
            for other in ("INCONCLUSIVE", "FAIL"):
                if better[other] < better[now]:
                    changed = [*base[:place], (key, other), *base[place + 1 :]]
                    assert rank[verdict(*changed)] <= rank[verdict(*base)], (base, changed)


def test_there_are_two_sentences_whatever_happens():
    for found in product(("PASS", "INCONCLUSIVE", "FAIL", "N/A"), repeat=3):
        decision = decide(POLICY, checks(zip((DARK, POSITIONAL, FIVE), found, strict=True)))
        assert len(decision.sentences) == 2
        assert all(sentence.endswith(".") and len(sentence) > 10 for sentence in decision.sentences)


def test_the_sentences_say_what_decides_and_how_many_more():
    more = {POSITIONAL: 1185}
    changed = [(RAW, "FAIL"), (POSITIONAL, "INCONCLUSIVE"), (STABLE, "INCONCLUSIVE")]
    held = [
        check.model_copy(update={"more_needed": more.get((check.measure, check.stratum))})
        for check in checks(changed, cured=[RAW, POSITIONAL])
    ]
    decides, sure = decide(POLICY, held).sentences
    assert decides == (
        f"{len(KEYS) - 3} of {len(KEYS)} checks passed, 1 failed and 2 are inconclusive. Use it only as recommended, "
        "because of raw false preference and positional false preference. Not passed, but not essential: stable cross "
        "sensitivity."
    )
    assert sure == (
        "Inconclusive at this size: positional false preference (about 1,190 more pairs), stable cross sensitivity."
    )


def test_what_it_is_good_for_is_said_only_of_a_judge_that_may_be_used():
    assert decide(POLICY, checks([(DARK, "FAIL")])).good_for == []
    assert decide(POLICY, checks()).good_for == [
        "Recognizing equally good answers in a single call.",
        "Distinguishing answers that differ by one requirement or more.",
        "Answers of different lengths: tested up to 3 times as long.",
        "Distinguishing right figures from wrong ones.",
    ]
    assert decide(POLICY, checks([(RAW, "FAIL"), (ONE, "FAIL")], cured=[RAW, ONE])).good_for == [
        "Recognizing equally good answers if both orders are asked.",
        "Distinguishing answers that differ by all five requirements.",
        "Answers of different lengths: tested up to 3 times as long.",
        "Distinguishing right figures from wrong ones.",
    ]


def test_what_it_is_not_for_says_when_it_is_not_settled():
    failed = decide(POLICY, checks([(STABLE, "FAIL")])).not_for
    unsettled = decide(POLICY, checks([(STABLE, "INCONCLUSIVE")])).not_for
    assert failed[0].endswith("both orders.")
    assert unsettled[0].endswith("both orders (inconclusive).")


def test_another_variant_changes_no_verdict_and_is_mentioned_if_it_fares_better():
    own, strict = checks([(DARK, "FAIL")]), checks(variant="strict")
    decision = decide(POLICY, [*own, *strict])
    assert decision.verdict == "do-not-use"
    assert decision.use_like_this == ["Consider the prompt variant strict. By the same rules, its verdict is “Use”."]
    unmeasured = checks([(DARK, "N/A")], variant="strict")
    assert decide(POLICY, [*own, *unmeasured]).use_like_this == []
    assert decide(POLICY, [*checks(), *strict]).use_like_this == decide(POLICY, checks()).use_like_this


def test_a_run_without_a_baseline_is_judged_by_its_first_variant():
    assert decide(POLICY, checks([(DARK, "FAIL")], variant="own")).verdict == "do-not-use"


def test_a_policy_of_checks_nobody_held_decides_nothing():
    assert verdict_on([], complete=True) == "not-enough-data"
