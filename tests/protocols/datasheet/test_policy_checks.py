"""The checks of a policy: one-sided, exact, and with what is missing counted against the judge."""

from dataclasses import replace

import pytest

from tests.protocols.datasheet.samples import estimate, fitted, measure, paper_measures, undefined
from umpirical.domain.measures import Interval
from umpirical.protocols.datasheet.spec import preset
from umpirical.reports.checks import hold_checks
from umpirical.reports.policy import Check, Cure, Policy
from umpirical.stats.intervals import exact_high


def policy(*checks):
    return Policy(policy="test", about="", compare=checks)


def hold(checks, measures):
    """The first of the checks, held together with the others."""
    return hold_checks(policy(*checks), "compare", measures, ["baseline"])[0]


def held(result, name="dark-current", **check):
    return hold([Check(measure=name, **(check or {"at_most": 0.1}))], [measure(name, result)])


def plain(numerator, denominator, **more):
    return estimate(numerator, denominator, "pair", planning_effect=1.0, **more)


def test_the_counts_of_the_paper():
    """Of ten tasks: 5 of 60 is open, and 31 of 120 fails."""
    found = {(h.measure, h.stratum): h for h in hold_checks(preset(), "compare", paper_measures(), ["baseline"])}
    assert {key: check.verdict for key, check in found.items() if check.verdict != "N/A"} == {
        ("dark-current", ""): "PASS",
        ("raw-false-preference", ""): "FAIL",
        ("positional-false-preference", ""): "INCONCLUSIVE",
        ("stable-cross-sensitivity", ""): "PASS",
        ("target-sensitivity", "1"): "PASS",
        ("target-sensitivity", "5"): "INCONCLUSIVE",
        ("unparsed-rate", ""): "INCONCLUSIVE",
        ("failure-rate", ""): "PASS",
    }
    assert found["conflict-excess", ""].state == "made up for"
    assert found["task-following", "5"].state == "open"


def test_nothing_in_seventy_passes_one_in_twenty_and_nothing_in_sixty_does_not():
    found = held(plain(0, 70), at_most=0.05)
    assert (found.verdict, found.level) == ("PASS", pytest.approx(0.03))
    assert found.bound == pytest.approx(exact_high(0, 70, 0.03))
    assert held(plain(0, 60), at_most=0.05).verdict == "INCONCLUSIVE"


def test_the_checks_share_the_error_of_refusing_and_not_that_of_accepting():
    one = Check(measure="dark-current", at_most=0.1)
    others = [Check(measure=name, at_most=0.1) for name in ("raw-false-preference", "stable-cross-sensitivity")]
    high = plain(12, 60, design_effect=1.0, clusters=10_000)
    assert hold([one], [measure("dark-current", high)]).verdict == "FAIL"
    together = hold([one, *others], [measure("dark-current", high)])
    assert (together.verdict, together.state) == ("INCONCLUSIVE", "open")
    assert policy(one, *others).accepting_level(one, (one, *others)) == pytest.approx(0.03)
    assert policy(one, *others).refusing_level((one, *others)) == pytest.approx(0.03 / 3)


def test_a_missing_answer_counts_against_the_judge_and_is_named():
    found = held(plain(0, 100, excluded={"without an answer in both orders": 10}))
    assert (found.verdict, found.needed, found.unanswered) == ("INCONCLUSIVE", None, 10)
    assert "10 pairs without an answer count against it" in found.why
    assert held(plain(0, 100, excluded={"without an answer in both orders": 2})).verdict == "PASS"


def test_a_preference_hidden_behind_unreadable_answers_does_not_pass():
    """True .60, of which 95 % cannot be read: .07 of what can be read."""
    seen = plain(6, 86, design_effect=1.0, clusters=24, excluded={"without an answer in both orders": 114})
    assert held(seen).verdict == "INCONCLUSIVE"


def test_how_many_more_is_said_for_either_way():
    passing, failing = held(plain(2, 60, clusters=24)), held(plain(9, 60, clusters=24))
    assert passing.why.endswith("would most likely make it pass")
    assert failing.why.endswith("would most likely make it fail")
    assert passing.more_needed == passing.needed - 60 > 0
    stuck = held(plain(6, 60))
    assert (stuck.verdict, stuck.more_needed) == ("INCONCLUSIVE", None)
    assert "more data would not decide it" in stuck.why


def test_what_is_undefined_or_was_not_measured_is_not_applicable():
    assert (held(undefined("no pair")).verdict, held(undefined("no pair")).why) == ("N/A", "no pair")
    missing = hold([Check(measure="dark-current", at_most=0.1)], [])
    assert (missing.verdict, missing.why, missing.title) == ("N/A", "not measured", "Blank-input preference")
    assert missing.state == "open"


def test_what_the_design_leaves_out_may_restrict_the_use_and_what_is_undefined_never_does():
    check = Check(measure="conflict-excess", at_most=0.1, unmeasured="Equal lengths only.")
    absent = hold([check], [])
    assert (absent.verdict, absent.state, absent.way) == ("N/A", "made up for", "Equal lengths only.")
    tried = hold([check], [measure("conflict-excess", undefined("no pair"))])
    assert (tried.verdict, tried.state) == ("N/A", "open")


CURED = Check(
    measure="positional-false-preference",
    at_most=0.1,
    cures=(
        Cure(way="First.", needs=[{"measure": "both-orders-sensitivity", "at": 1, "at_least": 0.8}]),
        Cure(way="Second.", needs=[{"measure": "both-orders-sensitivity", "at": 5, "at_least": 0.9}]),
    ),
)


@pytest.mark.parametrize(
    ("one", "five", "state", "way"),
    [
        (100, 100, "made up for", "First."),
        (50, 100, "made up for", "Second."),
        (50, 50, "broken", ""),
        (80, 50, "open", ""),
        (50, 90, "open", ""),
        (None, 50, "open", ""),
    ],
)
def test_a_cure_works_if_what_it_needs_passes_and_the_check_is_broken_if_none_can(one, five, state, way):
    both = {"1": one, "5": five}
    found = hold(
        [CURED],
        [
            measure(CURED.measure, plain(80, 100, clusters=24)),
            *(measure("unparsed-rate", plain(hits, 100, clusters=24), step).model_copy(
                update={"name": "both-orders-sensitivity"}
            ) for step, hits in both.items() if hits is not None),
        ],
    )  # fmt: skip
    assert (found.verdict, found.state, found.way) == ("FAIL", state, way)


@pytest.mark.parametrize(("missing", "state"), [(10, "made up for"), (12, "open")])
def test_nothing_makes_up_for_what_hides_behind_answers_that_cannot_be_read(missing, state):
    seen = plain(8, 100, clusters=24, excluded={"without an answer in both orders": missing})
    works = measure("unparsed-rate", plain(100, 100, clusters=24), "1").model_copy(
        update={"name": "both-orders-sensitivity"}
    )
    found = hold([CURED], [measure(CURED.measure, seen), works])
    assert (found.verdict, found.state) == ("INCONCLUSIVE", state)


def test_ways_that_do_not_include_each_other_share_the_error_of_accepting():
    assert policy(CURED).accepting_level(CURED, (CURED,)) == pytest.approx(0.03 / 3)
    unread = next(check for check in preset().compare if check.measure == "unparsed-rate")
    assert preset().accepting_level(unread, preset().compare) == pytest.approx(0.03)
    one = next(check for check in preset().compare if check.key == ("target-sensitivity", "1"))
    # Its cure rests on a check that has to be met anyway.
    assert preset().accepting_level(one, preset().compare) == pytest.approx(0.03)


def test_what_speaks_against_the_service_never_refuses():
    failures = Check(measure="failure-rate", at_most=0.02, refuses=False)
    found = hold([failures], [measure("failure-rate", plain(60, 100))])
    assert (found.verdict, found.state) == ("FAIL", "open")


def test_every_variant_is_held_to_every_check():
    found = hold_checks(preset(), "compare", paper_measures(), ["baseline", "strict"])
    assert len(found) == 2 * len(preset().compare)
    assert {check.verdict for check in found if check.variant == "strict"} == {"N/A"}


def test_a_check_on_what_is_no_rate():
    found = held(fitted(0.4, 0.2, 0.6, n=50), name="grade-spread", at_most=0.5)
    assert found.verdict == "INCONCLUSIVE"
    assert held(fitted(0.4, 0.35, 0.45, n=50), name="grade-spread", at_most=0.5).verdict == "PASS"


def test_a_value_that_is_no_number_settles_nothing():
    ends = Interval(low=float("nan"), high=float("nan"), level=0.95, method="any")
    found = held(replace(fitted(0.4, 0.2, 0.6), value=float("nan"), interval=ends), name="grade-spread")
    assert (found.verdict, found.needed) == ("INCONCLUSIVE", None)
