"""Measures side by side, and what the index regroups."""

from umpirical.domain.measures import Undefined
from umpirical.protocols.stress.heat_map import by_group, side_by_side
from umpirical.protocols.stress.record import MadeRecord
from umpirical.protocols.stress.rendering import index_page, unaccounted

from .samples import dataset, made, mean, measures, nothing, rate, report, stress_test, three


def test_every_measure_has_a_row_and_every_judge_a_cell():
    ((test, rows),) = side_by_side(three(), "original")
    assert test.name == "original"
    assert [row.measure.name for row in rows][:3] == ["accuracy", "within-one", "mean-absolute-error"]
    assert all(len(row.cells) == 3 for row in rows)
    ((_, synthetic),) = side_by_side(three(), "given-label")
    assert [cell is None for cell in synthetic[0].cells] == [False, False, True]
    assert side_by_side([nothing()], "original") == ()


def test_a_test_that_nobody_measured_has_no_table():
    assert side_by_side([report("x", parts={"original": []})], "original") == ()


def test_strata_are_rows_and_the_whole_comes_first():
    one = report()
    table = by_group(one, stress_test("verbosity-long"))
    assert table.titles == ("Change rate", "Excess change", "Grade shift")
    assert [group for group, _ in table.rows] == ["all items", "grade_level=6", "grade_level=8", "grade_level=10"]
    assert all(len(cells) == 3 for _, cells in table.rows)


def test_without_strata_there_is_no_table():
    found = {"verbosity-long": [("change-rate", rate(3, 60))]}
    flat = report("x", parts=found, measured=measures(found, groups=False))
    assert by_group(flat, stress_test("verbosity-long")) is None


def test_a_measure_that_no_stratum_has_is_excluded_and_one_that_some_have_is_not():
    none = Undefined("the scale has no order")
    found = {"verbosity-long": [("change-rate", rate(3, 60)), ("grade-shift", none)]}
    table = by_group(report("x", parts=found), stress_test("verbosity-long"))
    assert table.titles == ("Change rate",)
    some = measures({"verbosity-long": [("change-rate", rate(3, 60)), ("grade-shift", mean(0.1, 0.0, 0.2))]})
    kept = by_group(report("x", parts={"verbosity-long": []}, measured=some[:-1]), stress_test("verbosity-long"))
    assert kept.titles == ("Change rate", "Grade shift")
    assert kept.rows[-1][1][1] is None
    all_none = {"verbosity-long": [("change-rate", none)]}
    assert by_group(report("x", parts=all_none), stress_test("verbosity-long")) is None


def test_what_judges_share_is_shown_once():
    page = index_page(three())
    assert [judges for judges, _ in page.tests] == [("sound-examiner", "wordy, easily told"), ("moody/7B",)]
    assert [judges for judges, _ in page.datasets] == [("sound-examiner", "wordy, easily told", "moody/7B")]
    other = index_page([report("sound-examiner"), report("moody/7B", dataset=dataset(name="b.csv"))])
    assert (other.title, len(other.datasets)) == ("essays.csv, b.csv", 2)


def test_sentences_that_all_judges_share_are_said_once():
    page = index_page(three())
    *shared, named = page.policy
    assert len(shared) == len(set(shared)) == len({said for each in three() for said in each.policy})
    assert named.startswith("Policy stress, digest ")
    assert page.non_claims == tuple(three()[0].non_claims)


def test_what_became_of_the_wanted_stimuli():
    assert unaccounted(stress_test("paraphrase")) == 0
    assert unaccounted(stress_test("vertical-spacing")) == 0
    assert unaccounted(stress_test("paraphrase", made=made("paraphrase", wanted=70))) == 10
    assert unaccounted(stress_test("paraphrase", made=made("paraphrase", given_up=10))) == -6
    assert unaccounted(stress_test("original")) == 0
    assert unaccounted(stress_test("paraphrase", made=MadeRecord(wanted=60))) == 60
    assert unaccounted(stress_test("original", made=MadeRecord(wanted=60))) == 0


def test_trials_are_added_up_over_tests():
    (judge,) = index_page([report()]).judges
    assert judge.totals["planned"] == 10 * 60 + 180
    assert judge.totals["unparsed"] == 11
    assert judge.wrong == ()
