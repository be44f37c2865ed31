"""One line for each kind of finding, and none that the intervals do not carry."""

from dataclasses import replace

from umpirical.domain.measures import Measure, Undefined
from umpirical.protocols.stress.record import MadeRecord
from umpirical.protocols.stress.verdicts import TITLES

from .samples import SPECS, excess, mean, nothing, rate, report, shifts, stress_test


def lines(one):
    return {finding.kind: finding.words for finding in one.findings}


def paraphrase(*measures):
    return lines(report("x", parts={"paraphrase": list(measures)}))


STILL = shifts(0.0, 0.2)


def test_the_kinds_come_in_the_order_of_the_page():
    kinds = [finding.kind for finding in report().findings]
    assert kinds == [kind for kind in TITLES if kind in kinds]


def test_a_test_that_fails_breaks_it():
    found = paraphrase(("change-rate", rate(30, 60)), ("excess-change", excess(0.45, 0.1)), *STILL)
    assert found["breaks"] == "Paraphrase (50% of verdicts change)."
    assert "holds" not in found
    assert "undecided" not in found


def test_the_shift_is_told_where_it_is_what_failed():
    found = paraphrase(("change-rate", rate(30, 60)), ("excess-change", excess(0.45, 0.1)), *shifts(-0.8, 0.5))
    assert found["breaks"] == "Paraphrase (50% of verdicts change, -0.80 grades on average)."
    alone = paraphrase(("excess-change", excess(0.0, 0.01)), *shifts(0.8, 0.5))
    assert alone["breaks"] == "Paraphrase (+0.80 grades on average)."


def test_a_test_that_passes_is_stood_up_to():
    found = paraphrase(("change-rate", rate(1, 60)), ("excess-change", excess(0.0, 0.04)), *STILL)
    assert found["holds"] == "Paraphrase."
    assert "breaks" not in found


def test_what_is_undecided_says_how_many_items_would_settle_it():
    found = paraphrase(("change-rate", rate(3, 60)), ("excess-change", excess(0.0, 0.1)), *STILL)
    assert found["undecided"] == "Paraphrase (needs about 167 items, leans toward a pass)."
    stuck = paraphrase(("change-rate", rate(3, 60)), ("excess-change", excess(0.05, 0.1)), *STILL)
    assert stuck["undecided"] == "Paraphrase (more items would not make it conclusive)."


def test_what_was_not_measured_is_told_apart_from_what_has_no_check():
    found = lines(report("x", parts={"paraphrase": [("change-rate", Undefined("nobody answered"))],
                                     "synthetic-ordinal": [("accuracy", rate(30, 60))],
                                     "original": [("accuracy", rate(30, 60))]}))  # fmt: skip
    assert found["not-judged"].startswith("Paraphrase (Change rate: nobody answered")
    assert "Synthetic levels" not in found["not-judged"]
    assert "Your own items (weighted-kappa was not measured" in found["not-judged"]
    assert found["agreement"] == "Gives the gold label in 50% [38, 62] of 60 items."


def test_its_own_noise_is_told_or_said_not_to_be_known():
    assert paraphrase()["noise"] == "Not measured: no request was repeated."
    found = lines(report("x", parts={"stability": [("flip-rate", rate(6, 60))]}))
    assert found["noise"] == "Repeated request: 10% [5, 20] of answer pairs differ."
    unknown = lines(report("x", parts={"stability": [("flip-rate", Undefined("every item was answered once"))]}))
    assert "noise" not in unknown
    assert "every item was answered once" in unknown["not-judged"]


def test_a_severe_judge_and_a_lenient_one():
    def bias(value):
        return lines(report("x", parts={"original": [("grade-bias", mean(value, value - 0.1, value + 0.1))]}))

    assert bias(-0.5)["agreement"] == "On average 0.50 grades below the gold label [-0.60, -0.40]."
    assert bias(0.5)["agreement"] == "On average 0.50 grades above the gold label [+0.40, +0.60]."


def test_agreement_that_is_not_known_is_said():
    found = lines(report("x", parts={"original": [("accuracy", Undefined("no item has a label"))]}))
    assert found["agreement"] == "Unknown: no item has a label."


def test_answers_that_are_no_verdict_are_told_where_there_are_too_many():
    def unparsed(k, n):
        measured = [(SPECS["unparsed-rate"], Measure("unparsed-rate", rate(k, n, unit="call")))]
        return lines(report("x", parts={}, measured=measured, tests=[]))

    assert "unanswered" not in unparsed(1, 1000)
    assert "unanswered" not in unparsed(0, 30)  # too few calls to say, but there is none
    assert unparsed(2, 30)["unanswered"].startswith("Unparsed answers: INCONCLUSIVE, 7%")
    assert unparsed(300, 1000)["unanswered"].startswith("Unparsed answers: FAIL, 30%")


def test_where_nothing_was_tested_nothing_is_found():
    assert set(lines(nothing())) == {"noise"}


def test_its_own_noise_is_told_where_repeats_were_asked_for_other_tests():
    """The study has no test `stability`, and its originals were asked twice all the same."""
    measured = [(SPECS["flip-rate"], Measure("flip-rate", rate(6, 60), stratum="stability"))]
    found = lines(report("x", parts={"paraphrase": []}, measured=measured))
    assert found["noise"] == "Repeated request: 10% [5, 20] of answer pairs differ."
    none = [(SPECS["flip-rate"], Measure("flip-rate", Undefined("no item was answered twice"), stratum="stability"))]
    unknown = lines(report("x", parts={"paraphrase": []}, measured=none))
    assert unknown["noise"] == "Repeated request: unknown, no item was answered twice."


def abstaining(original, changed):
    rates = {"original": rate(original, 100, unit="call"), "paraphrase": rate(changed, 100, unit="call")}
    measured = [
        (SPECS["abstention-rate"], Measure("abstention-rate", one, stratum=test)) for test, one in rates.items()
    ]
    return lines(report("x", parts={"original": [], "paraphrase": []}, measured=measured)).get("unanswered")


def test_abstentions_are_told_where_they_are_not_rare():
    assert abstaining(0, 60) == "Paraphrase: abstains on 60% of the changed texts, and on none of the originals."
    assert abstaining(1, 60) == "Paraphrase: abstains on 60% of the changed texts, and on 1% of the originals."
    assert abstaining(30, 1) == "Abstains on 30% of the originals."
    assert abstaining(1, 2) is None


def test_a_pass_that_missing_verdicts_forbid_is_undecided_and_says_how_many():
    excluded = {"excluded": {"without a verdict on the changed text": 40}, "bounds": (-0.4, 0.4)}
    still = replace(excess(0.0, 0.04), **excluded)
    found = paraphrase(("change-rate", rate(1, 60)), ("excess-change", still), *STILL)
    assert "holds" not in found
    assert found["undecided"] == "Paraphrase (40 missing verdicts could have changed the result)."


def test_a_test_without_texts_could_not_be_judged():
    made = MadeRecord(wanted=40, attempts=3, given_up=40, rejected={"too long": 3})
    found = lines(report("x", parts={}, tests=[stress_test("synthetic-ordinal", made=made)], measured=[]))
    assert found["not-judged"].startswith("Synthetic levels (0 of 40 texts were made: 3 attempts were rejected")
