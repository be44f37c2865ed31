"""Temperature and top_p as a variation: really sent, counted apart, and no part of the judge's own noise."""

import json

import pytest

from tests.protocols.stress.end_to_end.rehearsals import notes_study
from tests.protocols.stress.end_to_end.studies import DECIDED
from tests.servers.chat_server import ChatServer
from umpirical.protocols.stress.record import StressReport

SWEEP = """\
  tests: [typos, stability, sampling]
  repeats: 2
  sampling: [{temperature: 0}, {temperature: 0.8}, {top_p: 0.5}]"""


def served(folder, server):
    file = folder / "umpirical.yaml"
    model = f'{{adapter: openai-compatible, name: m, base_url: "{server.base_url}", price: free}}'
    file.write_text(file.read_text().replace("{adapter: simulated, name: sound-examiner}", model))
    return folder


def report_of(folder):
    [path] = folder.glob("runs/*/stress.json")
    return StressReport.model_validate_json(path.read_text())


def rate(report, test):
    [found] = [one for one in report.measures if (one.name, one.stratum, one.group) == ("flip-rate", test, "")]
    return found.result


def by_temperature(body):
    """A judge that gives another grade where it is asked with a high temperature, and only there."""
    return json.dumps({"grade": "4" if body.get("temperature", 0) > 0.5 else "2"})


def test_each_original_is_asked_with_every_setting_and_the_change_is_seen_there_only(tmp_path, umpirical):
    with ChatServer(by_temperature) as server:
        folder = served(notes_study(tmp_path / "study", stress=SWEEP, rows=12), server)
        code, _, err = umpirical("run", folder, "--no-preflight")
        assert code in DECIDED, err
        sent = [(body.get("temperature"), body.get("top_p")) for body in server.bodies]
    # Asked twice as they are, twice with typos, and once with each setting; top_p leaves the judge's own temperature.
    assert sorted(sent, key=str) == sorted([(0, None)] * (12 * 5) + [(0.8, None)] * 12 + [(0, 0.5)] * 12, key=str)
    report = report_of(folder)
    # Of three answers to an item, the one at 0.8 differs: two of three pairs.
    assert rate(report, "sampling").value == pytest.approx(2 / 3)
    assert rate(report, "stability").value == 0
    [changed] = [m for m in report.measures if (m.name, m.stratum, m.group) == ("change-rate", "typos", "")]
    assert changed.result.value == 0
    [test] = [test for test in report.tests if test.name == "sampling"]
    assert "temperature 0; temperature 0.8; top_p 0.5" in test.about
    assert {cell.test: cell.verdict for cell in report.verdicts}["sampling"] == "FAIL"


def test_a_setting_that_is_the_judge_s_own_is_one_more_call(tmp_path, umpirical):
    stress = "  tests: [stability, sampling]\n  repeats: 2\n  sampling: [{temperature: 0}, {temperature: 0, top_p: 1}]"
    folder = notes_study(tmp_path / "study", stress=stress, rows=12)
    code, out, _ = umpirical("run", folder, "--json")
    assert code in DECIDED
    assert json.loads(out)[0]["trials"] == 12 * 4
    assert rate(report_of(folder), "sampling").denominator == 12


def test_a_function_is_not_asked_with_other_parameters_and_the_report_says_so(tmp_path, umpirical):
    more = "  - name: mine\n    callable: mine:judge"
    folder = notes_study(tmp_path / "study", stress=SWEEP, more=more, rows=12)
    (folder / "mine.py").write_text("def judge(task, response):\n    return '2'\n")
    assert umpirical("run", folder, "--judge", "mine", "--yes")[0] in DECIDED
    [cell] = [cell for cell in report_of(folder).verdicts if cell.test == "sampling"]
    assert (cell.verdict, cell.why) == ("N/A", "not run: a function judge has no temperature setting")


@pytest.mark.parametrize(
    ("sampling", "said"),
    [
        ("[{temperature: 0}]", "at least 2"),
        ("[{temperature: 0}, {temperature: 0}]", "listed twice"),
        ("[{temperature: 0}, {}]", "set temperature, top_p or both"),
        ("[{temperature: 0}, {seed: 3}]", "seed"),
    ],
)
def test_what_is_no_variation_is_refused(sampling, said, tmp_path, umpirical):
    folder = notes_study(tmp_path / "study", stress=f"  tests: [sampling]\n  sampling: {sampling}")
    code, _, err = umpirical("check", folder)
    assert code == 2
    assert said in err
