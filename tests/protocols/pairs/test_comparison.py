"""`umpirical compare` on labeled pairs: judges of known worth against each other."""

import json
from itertools import combinations

import pytest

from tests.protocols.pairs.pair_studies import labelled, measure, write_study
from umpirical import compare, run
from umpirical.domain.errors import UsageError
from umpirical.protocols.pairs.comparison import PairsComparison, render_pairs_comparison_html

JUDGES = ["careful", "slot-locked", "coin"]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = write_study(tmp_path_factory.mktemp("compared"), rows=labelled(40), profiles=JUDGES, more="edits: []\n")
    run(folder, progress=False)
    return folder


@pytest.fixture(scope="module")
def compared(study):
    return compare(study)


def row(compared, name, first, second):
    places = tuple(compared.judges.index(judge) for judge in (first, second))
    [found] = [
        one for _, one in compared.differences if (one.measure, one.first, one.second) == (name, *sorted(places))
    ]
    return found


def test_each_judge_is_compared_with_each_on_the_same_pairs(compared):
    assert sorted(compared.judges) == sorted(JUDGES)
    assert {(one.first, one.second) for _, one in compared.differences} == set(combinations(range(3), 2))
    for other in ("slot-locked", "coin"):
        one = row(compared, "both-orders-accuracy", "careful", other)
        ahead = compared.judges[one.first if one.words == "first better" else one.second]
        assert (ahead, one.family) == ("careful", "primary")
        assert one.difference.clusters == 40
    assert row(compared, "same-slot-rate", "careful", "slot-locked").family == "exploratory"
    assert row(compared, "failure-rate", "careful", "coin").difference.value == 0


def test_a_difference_is_that_of_the_two_reports(compared, study):
    reports = {report.judge: report for report in run(study, progress=False)}
    for _, one in compared.differences:
        if one.stratum or one.measure in ("abstention-rate", "unparsed-rate", "failure-rate"):
            continue
        first, second = (measure(reports[compared.judges[place]], one.measure) for place in (one.first, one.second))
        assert one.difference.value == pytest.approx(second.value - first.value), one.measure


def test_the_command_writes_page_record_and_card(compared, study, umpirical, tmp_path):
    code, out, _ = umpirical("compare", study, "--out", tmp_path / "out")
    assert code == 0
    assert "careful is significantly better than coin: right in both orders." in out
    record = PairsComparison.model_validate_json((tmp_path / "out" / "comparison.json").read_text())
    assert record == compared.record
    page = (tmp_path / "out" / "comparison.html").read_text()
    assert page == render_pairs_comparison_html(record) == compared.html()
    assert "Right in both orders" in page
    assert (tmp_path / "out" / "comparison.md").read_text() == compared.markdown()
    assert json.loads(compared.json())["format"] == "pairs-comparison/1"
    frame = compared.to_pandas()
    assert len(frame) == len(list(compared.differences))


def test_a_policy_and_other_pairs_are_refused(study, tmp_path):
    with pytest.raises(UsageError, match="--policy"):
        compare(study, policy="ranking")
    [other] = run(write_study(tmp_path, rows=labelled(12, seed=2), profiles=["coin"], more="edits: []\n"))
    with pytest.raises(UsageError, match="different test cases"):
        compare(study, other)
