"""One cell for every test of every judge."""

from umpirical.domain.measures import Undefined
from umpirical.protocols.stress.heat_map import FIGURES, SIGNS, heat_map, page_name

from .samples import BINARY, excess, incomplete, nothing, rate, report, shifts, three


def cells(*reports):
    """By test and judge."""
    found = heat_map(reports)
    return {
        (row.test.name, judge): cell
        for group in found.groups
        for row in group.rows
        for judge, cell in zip(found.judges, row.cells, strict=True)
    }


def test_there_is_a_cell_for_every_test_of_every_judge():
    found = cells(*three())
    assert len(found) == 11 * 3
    assert found["label-flip", "moody/7B"] is None
    for (test, judge), cell in found.items():
        if cell is not None:
            assert cell.href == page_name(judge, test)
            assert cell.sign == SIGNS[cell.verdict]
            assert cell.figures
            assert all(figure.n and figure.interval.startswith("[") for figure in cell.figures)


def test_the_groups_say_what_is_asked_and_what_passes():
    groups = {group.title: group for group in heat_map(three()).groups}
    assert list(groups) == [
        "Verdict should stay the same", "Verdict should change", "Repeated requests", "Agreement with labels"
    ]  # fmt: skip
    assert groups["Verdict should stay the same"].explained.endswith(
        "Threshold: at most 5 points and within ±0.25 grades."
    )
    assert groups["Verdict should change"].explained.endswith("Threshold: at least 80%.")
    assert groups["Repeated requests"].explained.endswith("Threshold: at most 10%.")
    assert groups["Agreement with labels"].explained.endswith("Threshold: at least 0.4 and at least 0.2.")
    assert [row.test.name for row in groups["Agreement with labels"].rows] == ["original", "synthetic-ordinal"]


def test_checks_that_differ_between_judges_are_not_told_as_one():
    groups = heat_map([report("sound-examiner"), report("moody/7B", scale=BINARY)]).groups
    assert groups[0].explained.endswith("Thresholds differ between judges; see each page.")


def test_the_numbers_are_those_that_decide():
    cell = cells(report())["verbosity-long", "wordy, easily told"]
    assert [(f.value, f.label, f.interval) for f in cell.figures] == [
        ("+61 points", "more changed", "[+49, +74]"),
        ("+0.83", "grades", "[+0.66, +1.00]"),
    ]
    unrepeated = cells(incomplete())["inline-spacing", "unfinished"]
    assert unrepeated.figures[0].label == "changed"
    assert unrepeated.figures[0].n == "40"


def test_every_kind_of_test_has_figures():
    assert set(FIGURES) == {test.kind for one in three() for test in one.tests}


def test_a_cell_without_a_number_says_why():
    found = cells(incomplete())
    assert "no item has a verdict on both texts" in found["vertical-spacing", "unfinished"].note
    assert found["original", "unfinished"].note.startswith("weighted-kappa was not measured")
    empty = cells(report("x", parts={"original": []}))["original", "x"]
    assert (empty.verdict, empty.figures) == ("N/A", ())


def test_an_undecided_cell_says_how_many_items_would_settle_it():
    found = cells(*three())
    assert found["stability", "wordy, easily told"].note == "needs about 151 items, leans toward a pass"
    parts = {"paraphrase": [("change-rate", rate(3, 60)), ("excess-change", excess(0.05, 0.1)), *shifts(0, 0.2)]}
    assert cells(report("x", parts=parts))["paraphrase", "x"].note == "more items would not make it conclusive"


def test_what_survives_depends_on_how_many_cells_there_are():
    """A miss at p = 0.02 is one by itself, and none among many that keep their checks."""
    miss = {"stability": [("flip-rate", rate(10, 60))]}
    assert cells(report("x", parts=miss))["stability", "x"].verdict == "INCONCLUSIVE"
    miss = {"stability": [("flip-rate", rate(11, 60))]}
    alone = report("x", parts=miss)
    assert alone.verdicts[0].verdict == "FAIL"
    assert 0.001 < alone.verdicts[0].p_value < 0.025
    assert cells(alone)["stability", "x"].survives
    still = {"stability": [("flip-rate", rate(0, 60))]}
    many = [report(f"steady-{n}", parts=still) for n in range(20)]
    assert not cells(alone, *many)["stability", "x"].survives
    counted = heat_map([alone, *many])
    assert (counted.tested, counted.failed, counted.surviving) == (21, 1, 0)


def test_only_a_fail_survives():
    for cell in cells(*three()).values():
        assert cell is None or not cell.survives or cell.verdict == "FAIL"
    counted = heat_map(three())
    assert (counted.tested, counted.failed, counted.surviving) == (25, 8, 6)


def test_what_was_not_measured_is_not_among_the_tested():
    parts = {"stability": [("flip-rate", Undefined("every item was answered once"))]}
    assert heat_map([report("x", parts=parts)]).tested == 0
    assert heat_map([nothing()]).groups == ()
