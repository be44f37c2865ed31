"""The tests of the Judge Reliability Harness paper on real essays, from file to report, one command for each stage."""

import json
import re

import pytest

from tests.protocols.stress.end_to_end.loopback import answer
from tests.protocols.stress.end_to_end.studies import DECIDED, SUITE, persuade_study
from tests.servers.chat_server import ChatServer
from umpirical.protocols.stress.record import StressReport
from umpirical.store.generation import GenerationStore


@pytest.fixture(scope="module")
def finished(persuade, tmp_path_factory):
    """A study that went through every stage, with what each command printed."""
    from click.testing import CliRunner

    from umpirical.cli import cli

    said = {}
    with ChatServer(answer) as server:
        folder = persuade_study(tmp_path_factory.mktemp("persuade"), persuade, server.base_url)
        for stage in ("check", "generate", "run"):
            result = CliRunner().invoke(cli, [stage, str(folder), "--outside", "--trust"], standalone_mode=False)
            assert result.exception is None, (stage, result.output, result.exception)
            said[stage] = result.output
    result = CliRunner().invoke(cli, ["report", str(folder)], standalone_mode=False)
    assert result.exception is None, result.output
    said["report"] = result.output
    return folder, said, server


def reports(folder):
    found = (StressReport.model_validate_json(path.read_text()) for path in folder.glob("runs/*/stress.json"))
    return {report.judge.name: report for report in found}


def measure(report, name, test, group=""):
    [found] = [m for m in report.measures if (m.name, m.stratum, m.group) == (name, test, group)]
    return found.result


def verdicts(report):
    return {cell.test: cell.verdict for cell in report.verdicts}


def test_every_test_of_the_paper_is_in_the_report(finished):
    folder, _, _ = finished
    for report in reports(folder).values():
        assert [test.name for test in report.tests] == ["original", *SUITE]
        assert report.complete


def test_what_a_program_made_is_proved_and_needs_no_model(finished):
    folder, _, _ = finished
    report = reports(folder)["word-counter"]
    made = {test.name: test.made for test in report.tests}
    for name in ("vertical-spacing", "inline-spacing", "indentation"):
        assert (made[name].proved, made[name].attempts, made[name].unchanged) == (40, 0, 0)
        assert made[name].gold_from == {"label": 40}
    assert made["synthetic-ordinal"].gold_from == {"construction": 18}
    assert made["paraphrase"].accepted + made["paraphrase"].given_up == 40
    assert sum(made["paraphrase"].rejected.values()) == made["paraphrase"].attempts - made["paraphrase"].accepted


def test_a_judge_that_counts_words_is_blind_to_spaces_and_swayed_by_length(finished):
    folder, _, _ = finished
    report = reports(folder)["word-counter"]
    for name in ("vertical-spacing", "inline-spacing", "indentation", "paraphrase"):
        assert measure(report, "change-rate", name).value == 0
        # Nothing changed, and 40 items are too few to say that nothing would.
        assert verdicts(report)[name] == "INCONCLUSIVE"
    assert verdicts(report)["verbosity-long"] == verdicts(report)["verbosity-short"] == "FAIL"
    assert measure(report, "grade-shift", "verbosity-long").interval.low > 0.25
    assert measure(report, "grade-shift", "verbosity-short").interval.high < -0.25


def test_a_judge_that_counts_lines_is_swayed_by_blank_lines_and_by_no_words(finished):
    folder, _, _ = finished
    report = reports(folder)["line-counter"]
    assert verdicts(report)["vertical-spacing"] == "FAIL"
    for name in ("inline-spacing", "paraphrase", "verbosity-long"):
        assert measure(report, "change-rate", name).value == 0


def test_stability_is_not_accuracy(finished):
    folder, _, _ = finished
    for report in reports(folder).values():
        assert measure(report, "flip-rate", "stability").value == 0
        assert measure(report, "modal-share", "stability").value == 1
        assert measure(report, "accuracy", "original").value < 0.6


def test_every_published_figure_has_its_parts(finished):
    folder, _, _ = finished
    for report in reports(folder).values():
        for found in report.measures:
            if found.result.kind == "undefined":
                assert found.result.reason
                continue
            assert found.result.interval is not None, found.name
            assert found.result.interval.method
            assert found.result.denominator > 0
            assert found.result.interval.low <= found.result.value <= found.result.interval.high
            assert found.result.interval.low < found.result.interval.high


def test_results_are_split_by_the_users_strata(finished):
    folder, _, _ = finished
    report = reports(folder)["word-counter"]
    split = {m.group: m.result for m in report.measures if (m.name, m.stratum) == ("accuracy", "original")}
    assert split[""].denominator == 40
    levels = {group: result for group, result in split.items() if group}
    assert all(group.startswith("grade_level=") for group in levels)
    # A level with one essay has no interval, and says so.
    assert sum(result.denominator for result in levels.values() if result.kind == "estimate") > 20
    assert all("one cluster" in result.reason for result in levels.values() if result.kind == "undefined")


def test_the_stages_say_what_they_did(finished):
    _, said, _ = finished
    assert "138 test cases to write" in said["check"]
    assert re.search(r"synthetic-ordinal: 18 of 18 written", said["generate"])
    assert "rejected" in said["generate"]
    assert "all judges side by side" in said["run"]


def test_the_report_holds_every_judge_and_a_page_for_every_cell(finished):
    folder, _, _ = finished
    index = (folder / "report" / "index.html").read_text()
    for judge in ("word-counter", "line-counter"):
        for test in ("original", *SUITE):
            page = f"{judge}--{test}.html"
            assert page in index
            assert (folder / "report" / page).is_file()


def test_the_validator_saw_what_the_judge_sees(finished, persuade):
    _, _, server = finished
    rubric = (persuade / "rubric.txt").read_text().strip()
    instruction = (persuade / "instruction.txt").read_text().strip()
    shown = dict.fromkeys(("validator", "word-counter"), 0)
    for body in server.bodies:
        if body["model"] in shown:
            text = body["messages"][-1]["content"]
            assert rubric in text
            assert instruction in text
            shown[body["model"]] += 1
    assert shown["validator"] > 0


def test_no_judge_is_shown_a_label_a_test_or_evidence(finished):
    folder, _, server = finished
    for body in server.bodies:
        if body["model"] in ("word-counter", "line-counter"):
            text = body["messages"][-1]["content"]
            assert not re.search(r"paraphrase|verbosity|synthetic|same-verdict|construction", text)
    store = GenerationStore(folder / "generated")
    assert all(attempt.stimulus is None or attempt.stimulus.evidence for attempt in store.attempts())
    store.close()


def test_another_run_of_the_same_commands_asks_nothing(finished, umpirical):
    folder, _, _ = finished
    # The server is gone: anything that is asked now fails.
    code, out, _ = umpirical("generate", folder, "--outside", "--json")
    assert code == 0
    assert json.loads(out)["synthetic-ordinal"]["generated"] == 18
    code, out, _ = umpirical("run", folder, "--outside", "--json")
    assert code in DECIDED
    assert all(entry["complete"] for entry in json.loads(out))


@pytest.mark.parametrize("generator", ["garbage", "copyist"])
def test_a_bad_generator_yields_rejected_stimuli_and_never_a_test_item(
    generator, persuade, server, tmp_path, umpirical
):
    tests = ("paraphrase", "synthetic-ordinal")
    judges = ["word-counter"]
    folder = persuade_study(
        tmp_path, persuade, server.base_url, size=8, tests=tests, generator=generator, judges=judges
    )
    code, out, _ = umpirical("generate", folder, "--outside", "--json")
    assert code == 0
    for made in json.loads(out).values():
        assert made["generated"] == 0
        assert made["given_up"] == made["wanted"] > 0
        assert sum(made["rejected"].values()) == made["attempts"] == 6 * made["wanted"]
    code, _, _ = umpirical("run", folder, "--outside")
    assert code in DECIDED
    [report] = reports(folder).values()
    assert verdicts(report)["paraphrase"] == "N/A"
    assert not [m for m in report.measures if m.stratum in tests and m.result.kind == "estimate"]
    index = (folder / "report" / "index.html").read_text()
    assert "given up" in index.lower()


def test_run_says_so_while_stimuli_are_not_written(persuade, server, tmp_path, umpirical):
    folder = persuade_study(tmp_path, persuade, server.base_url, size=8, tests=("paraphrase",), judges=["word-counter"])
    code, _, err = umpirical("run", folder, "--outside")
    assert code == 2
    assert "8 of 8 test cases are not written yet" in err
    assert "umpirical generate" in err


def test_a_dataset_outside_the_folder_takes_a_persons_word(persuade, server, tmp_path, umpirical):
    folder = persuade_study(tmp_path, persuade, server.base_url, size=8)
    for stage in ("check", "plan", "generate", "run"):
        code, _, err = umpirical(stage, folder)
        assert code == 2
        assert "--outside" in err
