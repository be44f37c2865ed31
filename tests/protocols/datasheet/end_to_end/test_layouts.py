"""Layouts from the plan to the counts: what is called how is asked, stored and read back."""

import re
from collections import Counter

import pytest

import umpirical
from tests.servers.chat_server import ChatServer
from tests.stimuli.built import lend_stimuli
from umpirical.domain.trials import LABEL_SETS
from umpirical.store.parquet import read_rows

LABEL = re.compile(r"\[candidate (\w+), ")
OPTION = re.compile(r'"(\w+)" if candidate')

FIRST_LABELS = {labels.split("/")[0] for labels in LABEL_SETS}


def slot_judge(body):
    return LABEL.findall(body["messages"][-1]["content"])[0]


def label_judge(body):
    return next(label for label in LABEL.findall(body["messages"][-1]["content"]) if label in FIRST_LABELS)


def list_judge(body):
    return OPTION.findall(body["messages"][-1]["content"])[0]


def measured(answer, folder):
    lend_stimuli(folder)
    with ChatServer(answer) as server:
        model = {"adapter": "openai-compatible", "name": "m", "base_url": server.base_url, "price": "free"}
        return umpirical.datasheet({"name": "judge", "model": model}, size="screen", folder=folder, progress=False)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    judges = {"slot": slot_judge, "label": label_judge, "list": list_judge}
    return {name: measured(judge, tmp_path_factory.mktemp(name)) for name, judge in judges.items()}


def test_every_answer_is_read_whatever_the_slots_are_called(reports):
    for report in reports.values():
        assert sum(row.unparsed + row.failed + row.tie for row in report.record.audit) == 0


def test_the_layout_is_stored_and_both_orders_share_it(reports):
    rows = list(read_rows(reports["slot"].folder / "judgments.parquet"))
    assert {row["layout"]["labels"] for row in rows} == set(LABEL_SETS)
    found = {}
    for row in rows:
        found.setdefault(row["stimulus_id"], set()).add(tuple(row["layout"].values()))
    assert all(len(layouts) == 1 for layouts in found.values())


def test_a_judge_of_slots_names_slot_1_in_every_call(reports):
    counts = Counter()
    for row in reports["slot"].record.audit:
        counts += Counter(position_1=row.position_1, position_2=row.position_2)
    assert counts["position_2"] == 0


@pytest.mark.parametrize("stratum", ["", "identical"])
@pytest.mark.parametrize("name", ["slot", "label", "list"])
def test_each_judge_shows_its_own_effect_and_no_other(reports, name, stratum):
    found = {effect: reports[name].measure(f"{effect}-effect", stratum=stratum).result.value for effect in reports}
    assert found == {effect: pytest.approx(float(effect == name), abs=1e-9) for effect in reports}


@pytest.mark.parametrize("name", ["label", "list"])
def test_a_judge_of_labels_or_lists_names_each_slot_about_as_often(reports, name):
    one = sum(row.position_1 for row in reports[name].record.audit)
    two = sum(row.position_2 for row in reports[name].record.audit)
    assert abs(one - two) <= 0.05 * (one + two)


FOLLOWED = {"slot": "the first position", "label": "the label 1, A, X or first", "list": "the option listed first"}


@pytest.mark.parametrize("name", FOLLOWED)
def test_the_findings_name_what_each_judge_follows_and_nothing_else(reports, name):
    [said] = [finding for finding in reports[name].findings if finding.startswith("It follows ")]
    assert [what for what, words in FOLLOWED.items() if words in said] == [name]
