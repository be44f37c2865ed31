"""Everything from generation to the report without a key, and what the report says about that."""

import json

import pytest

from tests.protocols.stress.end_to_end.rehearsals import notes_study
from tests.protocols.stress.end_to_end.studies import DECIDED
from umpirical.protocols.stress.record import StressReport

TESTS = "  tests: [typos, paraphrase, label-flip, synthetic-ordinal, authority-cue, stability]\n  per_level: 2"


def reports(folder):
    found = (StressReport.model_validate_json(path.read_text()) for path in folder.glob("runs/*/stress.json"))
    return {report.judge.name: report for report in found}


def test_a_study_is_rehearsed_from_generation_to_report_without_a_key(tmp_path, umpirical):
    folder = notes_study(tmp_path / "study", stress=TESTS)
    code, out, _ = umpirical("check", folder)
    assert code == 0
    assert "generator and validator are simulated" in out
    code, out, err = umpirical("generate", folder)
    assert code == 0, err
    assert "by a simulated generator (a dry run)" in out
    assert umpirical("run", folder)[0] in DECIDED
    [report] = reports(folder).values()
    made = {test.name: test.made for test in report.tests}
    for name, wanted in (("paraphrase", 24), ("label-flip", 24), ("synthetic-ordinal", 8), ("authority-cue", 24)):
        assert (made[name].accepted, made[name].simulated) == (wanted, wanted)
    assert made["typos"].simulated == 0


def test_nobody_takes_a_rehearsal_for_a_measurement(tmp_path, umpirical):
    folder = notes_study(tmp_path / "study", stress=TESTS)
    umpirical("generate", folder)
    _, said, _ = umpirical("run", folder)
    [report] = reports(folder).values()
    assert report.findings[0].kind == "rehearsal"
    assert "Paraphrase, Label flip, Synthetic levels, Authority cue" in report.findings[0].words
    [card] = folder.glob("runs/*/stress.md")
    for text in (said, card.read_text(), (folder / "report" / "index.html").read_text()):
        assert "Dry run only" in text
    assert "simulated generator" in (folder / "report" / "sound--paraphrase.html").read_text()


def test_a_study_without_simulated_writers_is_no_rehearsal(tmp_path, umpirical):
    folder = notes_study(tmp_path / "study", stress="  tests: [typos, stability]")
    assert umpirical("run", folder)[0] in DECIDED
    [report] = reports(folder).values()
    assert "rehearsal" not in [finding.kind for finding in report.findings]


def test_what_is_planted_in_the_writers_is_counted(tmp_path, umpirical):
    folder = notes_study(
        tmp_path / "study",
        stress="  tests: [paraphrase]\n  temperatures: [0.7]\n  tries: 2",
        generator="misses: 0.4, refusals: 0.2",
        validator="unread: 0.1",
    )
    code, out, _ = umpirical("generate", folder, "--json")
    assert code == 0
    made = json.loads(out)["paraphrase"]
    assert set(made["rejected"]) >= {"validators did not agree", "the generator refused"}
    assert made["generated"] + made["given_up"] == 24
    assert made["given_up"] >= 2


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "adapter: simulated-writer, name: validator",
            "adapter: inspect, name: openai/gpt-4o",
            "all simulated or all real",
        ),
        ("adapter: simulated-writer, name: validator", "adapter: simulated, name: careful", "cannot write"),
        ("adapter: simulated, name: sound-examiner", "adapter: simulated-writer, name: generator", "is not a judge"),
    ],
)
def test_a_simulated_writer_stands_in_for_writers_only_and_for_both(old, new, said, tmp_path, umpirical):
    folder = notes_study(tmp_path / "study", stress="  tests: [paraphrase]")
    file = folder / "umpirical.yaml"
    file.write_text(file.read_text().replace(old, new))
    code, _, err = umpirical("check", folder)
    assert code == 2
    assert said in err


FALLBACK = "  fallback_validator: {model: {adapter: simulated-writer, name: validator, model_args: {refusals: 0.0}}}"


def test_a_fallback_saves_what_a_refusing_validator_would_lose_and_the_report_says_so(tmp_path, umpirical):
    plain = "  tests: [paraphrase]\n  temperatures: [0.7]\n  tries: 1"
    alone = notes_study(tmp_path / "alone", stress=plain, validator="refusals: 0.5")
    made = json.loads(umpirical("generate", alone, "--json")[1])["paraphrase"]
    assert 0 < made["generated"] < 24
    folder = notes_study(tmp_path / "both", stress=f"{plain}\n{FALLBACK}", validator="refusals: 0.5")
    saved = json.loads(umpirical("generate", folder, "--json")[1])["paraphrase"]
    assert saved["generated"] == 24
    assert saved["by_fallback"] == 24 - made["generated"]
    assert umpirical("run", folder)[0] in DECIDED
    [report] = reports(folder).values()
    [test] = [test for test in report.tests if test.name == "paraphrase"]
    assert test.made.by_fallback == saved["by_fallback"]
    assert "The fallback validated" in (folder / "report" / "index.html").read_text()


@pytest.mark.parametrize(
    ("stress", "said"),
    [
        (
            "  fallback_validator: {model: {adapter: simulated-writer, name: validator}}",
            "must differ from the validator",
        ),
        ("  fallback_validator: {model: {adapter: inspect, name: openai/gpt-4o}}", "all simulated or all real"),
    ],
)
def test_a_fallback_that_is_none_is_refused(stress, said, tmp_path, umpirical):
    code, _, err = umpirical("check", notes_study(tmp_path / "study", stress=f"  tests: [paraphrase]\n{stress}"))
    assert code == 2
    assert said in err


def test_the_report_says_what_writing_took(tmp_path, umpirical):
    stress = f"  tests: [paraphrase]\n{FALLBACK}"
    folder = notes_study(tmp_path / "study", stress=stress, generator="misses: 0.2", validator="refusals: 0.2")
    made = json.loads(umpirical("generate", folder, "--json")[1])["paraphrase"]
    assert umpirical("run", folder)[0] in DECIDED
    [report] = reports(folder).values()
    generator, validator, fallback = report.writing
    assert generator.calls == made["attempts"]
    assert validator.refused == fallback.calls > 0
    assert validator.calls >= 2 * made["generated"]
    assert (generator.cost, generator.failed) == (0, 0)
    assert "Cost of writing the test cases" in (folder / "report" / "index.html").read_text()
    [card] = folder.glob("runs/*/stress.md")
    assert f"Test cases, generator: {generator.calls} calls to simulated generator" in card.read_text()


def test_a_report_without_written_stimuli_says_nothing_of_writing(tmp_path, umpirical):
    folder = notes_study(tmp_path / "study", stress="  tests: [typos]")
    assert umpirical("run", folder)[0] in DECIDED
    [path] = folder.glob("runs/*/stress.json")
    assert "writing" not in json.loads(path.read_text())
    assert "Cost of writing" not in (folder / "report" / "index.html").read_text()
