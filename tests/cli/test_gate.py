"""`umpirical gate`: a judge is let through, refused, left open or found to be worse. Nothing is asked or changed."""

import hashlib
import json
import re
import shutil
import socket
from pathlib import Path

import pytest
import xmlschema

import umpirical as front_door
from tests.protocols.agent.agent_studies import write_study as write_agent_study
from tests.stimuli.built import lend_stimuli
from umpirical.domain.errors import UsageError

USED, USAGE, REFUSED, OPEN, RESUMABLE, REGRESSED = 0, 2, 3, 4, 5, 7

SMOKE = ("--policy", "ci-smoke")
JUNIT = xmlschema.XMLSchema(Path(__file__).parents[1] / "reports" / "junit.xsd")

JUDGES = {"sound": "careful", "dim": "short-sighted", "locked": "slot-locked", "unclear": "mumbling"}

ESSAYS = [
    "Parks in the middle of a town give people a place to rest, and they cost little to keep.",
    "A town that closes its parks saves money at first.\n\nLater it pays for it in other ways.",
    "Some say that parks are only for the rich, but everybody can walk into one, at any hour.",
    "Trees keep a street cool in summer, which matters more each year, as the summers grow hot.",
    "I like parks because they are green, and because my dog likes them even more than I do.",
    "There should be a park within ten minutes of every door, and in most towns there is none.",
]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A folder with a run of each judge at `screen`."""
    folder = tmp_path_factory.mktemp("gated")
    lend_stimuli(folder)
    judges = "\n".join(
        f"  - {{name: {name}, model: {{adapter: simulated, name: {profile}}}}}" for name, profile in JUDGES.items()
    )
    (folder / "umpirical.yaml").write_text(f"study: gated\ndesign: {{size: screen}}\njudges:\n{judges}\n")
    front_door.run(folder, progress=False, trust=True)
    return folder


@pytest.fixture(autouse=True)
def _not_on_github(monkeypatch):
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


def run_of(study, judge):
    [found] = (study / "runs").glob(f"{judge}-*")
    return found


def digests(folder):
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


# What it exits with.


def test_a_sound_judge_passes(umpirical, study):
    code, out, _ = umpirical("gate", run_of(study, "sound"), *SMOKE)
    assert code == USED
    passed = sum(line.startswith("  PASS  ") for line in out.splitlines())
    assert out.splitlines()[0] == f"sound: Use (policy ci-smoke): All {passed} checks passed."


def test_a_bad_one_is_refused(umpirical, study):
    code, out, _ = umpirical("gate", run_of(study, "locked"), *SMOKE)
    assert code == REFUSED
    assert "  FAIL  Blank-input preference: " in out


def test_what_is_open_says_how_much_would_settle_it(umpirical, study):
    code, out, _ = umpirical("gate", run_of(study, "sound"), "--policy", "adjudication", "--json")
    assert code == OPEN
    found = json.loads(out)
    assert (found["format"], found["verdict"], found["exit_code"]) == ("judge-gate/1", "not-enough-data", OPEN)
    [dark] = [check for check in found["checks"] if check["measure"] == "dark-current"]
    assert (dark["effect"], dark["unit"]) == ("open", "prompt")
    assert dark["more_needed"] > 0


def test_what_is_open_names_the_command_that_settles_it(umpirical, study):
    run = run_of(study, "sound")
    code, out, _ = umpirical("gate", run)
    assert code == OPEN
    assert out.endswith(f"next:  umpirical extend {run}  to collect the data that is missing\n")
    # It asks what the run's own policy leaves open, and a record by itself has nobody to ask.
    assert "umpirical extend" not in umpirical("gate", run, "--policy", "adjudication")[1]
    assert "umpirical extend" not in umpirical("gate", run / "datasheet.json")[1]


def test_a_worse_judge_is_a_regression(umpirical, study):
    code, out, _ = umpirical(
        "gate", run_of(study, "dim"), "--policy", "adjudication", "--baseline", run_of(study, "sound"), "--json"
    )
    assert code == REGRESSED
    found = json.loads(out)
    assert found["verdict"] == "regression"
    worse = {(row["measure"], row["stratum"]) for row in found["baseline"]["rows"] if row["standing"] == "worse"}
    assert ("target-sensitivity", "1") in worse
    known = [row["worsening"] for row in found["baseline"]["rows"] if row["standing"] != "not comparable"]
    methods = {difference["interval"]["method"] for difference in known}
    assert "cluster-Wilson limits of both rates, joined over tasks" in methods


def test_a_better_judge_is_none(umpirical, study):
    code, out, _ = umpirical("gate", run_of(study, "sound"), *SMOKE, "--baseline", run_of(study, "dim"))
    assert code == USED
    assert re.search(r"none of \d+ measures shown to be worse by more than 0.05", out)


def test_a_refused_judge_stays_refused_however_it_was_before(umpirical, study):
    code, out, _ = umpirical("gate", run_of(study, "locked"), *SMOKE, "--baseline", run_of(study, "sound"))
    assert code == REFUSED
    assert "  WORSE  Blank-input preference" in out


@pytest.mark.parametrize(("judge", "policy"), [*((judge, "ci-smoke") for judge in JUDGES), ("sound", "adjudication")])
def test_the_same_responses_again_never_change_a_verdict(study, judge, policy):
    run = run_of(study, judge)
    alone, against = (front_door.gate(run, policy=policy, baseline=before, margin=0) for before in (None, run))
    assert against.model_copy(update={"baseline": None}) == alone
    assert {row.worsening.value for row in against.baseline.rows if row.standing != "not comparable"} == {0}


def test_a_run_that_can_be_resumed_is_neither(umpirical, study, tmp_path):
    lend_stimuli(tmp_path)
    text = "study: s\ndesign: {size: screen}\njudges: [{name: silent, callable: 'silent:judge'}]\n"
    (tmp_path / "umpirical.yaml").write_text(text)
    (tmp_path / "silent.py").write_text("def judge(task, first, second):\n    return 1 / (len(task) % 3) and 'tie'\n")
    front_door.run(tmp_path, progress=False, trust=True, preflight=False)
    code, out, _ = umpirical("gate", tmp_path, "--junit", tmp_path / "gate.xml")
    assert code == RESUMABLE
    assert "Not enough data (policy ranking): " in out
    assert "The run is incomplete: " in out
    JUNIT.validate(tmp_path / "gate.xml")
    code, _, err = umpirical("gate", run_of(study, "sound"), "--baseline", tmp_path)
    assert code == USAGE
    assert "the baseline is incomplete" in err


# A record, without the run that it was made from.


def test_a_record_is_enough(umpirical, study, tmp_path):
    sound, dim = (
        shutil.copy(run_of(study, name) / "datasheet.json", tmp_path / f"{name}.json") for name in ("sound", "dim")
    )
    assert umpirical("gate", sound, *SMOKE)[0] == USED
    code, out, _ = umpirical("gate", dim, "--policy", "adjudication", "--baseline", sound, "--json")
    assert code == REGRESSED
    rows = json.loads(out)["baseline"]["rows"]
    methods = {row["worsening"]["interval"]["method"] for row in rows if row["standing"] != "not comparable"}
    assert methods == {"intervals of both values, joined as if they were independent"}


def test_the_decision_in_a_record_counts_for_nothing(umpirical, study, tmp_path):
    record = json.loads((run_of(study, "locked") / "datasheet.json").read_text())
    record["decision"] |= {"verdict": "use", "sentences": ["All is well.", ""]}
    for check in record["checks"]:
        check |= {"verdict": "PASS", "state": "met"}
    (tmp_path / "mended.json").write_text(json.dumps(record))
    for policy in (SMOKE, ()):
        assert umpirical("gate", tmp_path / "mended.json", *policy)[0] == REFUSED


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "judge-datasheet/2"}', "[" * 100_000])
def test_what_is_no_record_is_refused(umpirical, tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    code, _, err = umpirical("gate", tmp_path / "x.json")
    assert code == USAGE
    assert "fix:" in err


# What cannot be held against each other.


def test_a_baseline_on_other_stimuli_is_refused(umpirical, study, tmp_path):
    record = json.loads((run_of(study, "sound") / "datasheet.json").read_text())
    record["run"]["stimuli"] = "0" * 32
    (tmp_path / "other.json").write_text(json.dumps(record))
    code, _, err = umpirical("gate", run_of(study, "sound"), "--baseline", tmp_path / "other.json")
    assert code == USAGE
    assert "different test cases" in err


def test_every_judge_of_a_study_has_to_pass(umpirical, study, monkeypatch, tmp_path):
    code, out, _ = umpirical("gate", study, *SMOKE, "--junit", tmp_path / "gate.xml")
    assert code == REFUSED
    assert {judge for judge in JUDGES if f"\n{judge}: " in f"\n{out}"} == {*JUDGES}
    JUNIT.validate(tmp_path / "gate.xml")
    told = json.loads(umpirical("gate", study, *SMOKE, "--json")[1])
    alone = {judge: json.loads(umpirical("gate", run_of(study, judge), *SMOKE, "--json")[1]) for judge in JUDGES}
    assert {one["judge"]: one for one in told} == alone
    code, out, _ = umpirical("gate", study, *SMOKE, "--baseline", study, "--json")
    assert {row["standing"] for one in json.loads(out) for row in one["baseline"]["rows"]}.isdisjoint({"worse"})
    monkeypatch.chdir(study)
    assert umpirical("gate", "sound", *SMOKE)[0] == USED


@pytest.mark.parametrize("margin", ["-0.1", "1", "nan"])
def test_a_margin_is_a_share(umpirical, study, margin):
    code, _, err = umpirical("gate", run_of(study, "sound"), "--baseline", run_of(study, "dim"), "--margin", margin)
    assert code == USAGE
    assert "margin" in err


# Nothing is asked, changed or left behind.


def test_it_changes_neither_answers_nor_documents(umpirical, study, monkeypatch):
    def refuse(*_):
        raise AssertionError("a gate connects to nobody")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    before = digests(study)
    umpirical("gate", run_of(study, "dim"), "--policy", "claim", "--baseline", run_of(study, "sound"))
    assert digests(study) == before


def test_a_damaged_run_is_named_and_not_decided_on(umpirical, study, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(study, copy)
    [shard] = run_of(copy, "sound").glob("responses/*.parquet")
    shard.write_bytes(shard.read_bytes()[:-8])
    code, _, err = umpirical("gate", run_of(copy, "sound"))
    assert code == 1
    assert "error:" in err


# What a pipeline shows.


@pytest.mark.parametrize(("judge", "code"), [("sound", USED), ("locked", REFUSED), ("unclear", OPEN)])
def test_the_xml_agrees_with_the_exit_code_and_holds_no_prompt_and_no_answer(umpirical, study, tmp_path, judge, code):
    place = tmp_path / "new" / "gate.xml"
    assert umpirical("gate", run_of(study, judge), *SMOKE, "--junit", place)[0] == code
    JUNIT.validate(place)
    text = place.read_text(encoding="utf-8")
    assert ('failures="0" errors="0"' in text) == (code == USED)
    record = json.loads((run_of(study, judge) / "datasheet.json").read_text())
    words = [example[part] for example in record["examples"] for part in ("task", "candidate_a", "candidate_b")]
    words += [answer["words"] for example in record["examples"] for answer in example["answers"]]
    words += [kind["example"] for kind in record["trouble"]] + list(record["judge"]["prompts"].values())
    assert words
    assert not [word for word in words if len(word) > 12 and word[:40] in text]


def test_on_github_it_adds_to_the_summary_and_annotates_on_standard_error(umpirical, study, tmp_path, monkeypatch):
    summary = tmp_path / "summary.md"
    summary.write_text("# Before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    _, out, err = umpirical("gate", run_of(study, "locked"), *SMOKE, "--json")
    assert "::error" not in err
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    _, again, err = umpirical("gate", run_of(study, "locked"), *SMOKE, "--json")
    assert json.loads(out) == json.loads(again)
    assert err.startswith("::error title=locked%3A Do not use::")
    assert summary.read_text().startswith("# Before\n### locked: Do not use\n")
    assert summary.read_text().count("### locked") == 2


def test_a_summary_in_no_folder_changes_no_exit_code(umpirical, study, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "nowhere" / "summary.md"))
    code, _, err = umpirical("gate", run_of(study, "sound"), *SMOKE)
    assert code == USED
    assert "cannot write the job summary" in err


def test_the_name_of_a_judge_writes_no_line_of_its_own(umpirical, study, tmp_path):
    record = json.loads((run_of(study, "sound") / "datasheet.json").read_text())
    for name in ("x\n::error::stolen ##[add-mask]y\x1b[2J", "::stop-commands::tok", " ::add-mask::x ##vso[task]y"):
        record["judge"]["name"] = record["run"]["id"] = name
        record["measures"][0]["title"] = record["checks"][0]["title"] = name
        (tmp_path / "x.json").write_text(json.dumps(record))
        code, out, _ = umpirical("gate", tmp_path / "x.json", *SMOKE, "--junit", tmp_path / "gate.xml")
        assert code == USED
        told = umpirical("gate", tmp_path / "x.json", *SMOKE, "--json")[1:]
        for text in (out, *told, (tmp_path / "gate.xml").read_text()):
            assert not [line for line in text.splitlines() if line.lstrip().startswith("::")]
            assert "##[" not in text
            assert "##vso[" not in text
            assert "\x1b" not in text
        assert json.loads(told[0])["judge"] == name
        JUNIT.validate(tmp_path / "gate.xml")


# Other protocols.


def test_a_stress_run_is_held_to_its_tests(umpirical, tmp_path):
    rows = [{"essay": f"{text} {number}.", "score": str(1 + number % 3)} for number, text in enumerate(ESSAYS * 4)]
    settings = {"response": "essay", "label": "score", "tests": ["typos", "stability"], "progress": False}
    steady = front_door.stress(lambda *_: "2", rows, folder=tmp_path / "a", name="steady", **settings)
    fickle = front_door.stress(
        lambda _, response: str(1 + sum(place * ord(char) for place, char in enumerate(response)) % 3),
        rows,
        folder=tmp_path / "b",
        name="fickle",
        **settings,
    )
    assert umpirical("gate", fickle.folder)[0] == REFUSED
    code, out, _ = umpirical("gate", steady.folder, "--json")
    assert code == OPEN
    found = json.loads(out)
    assert (found["protocol"], found["policy"]) == ("stress", "stress")
    assert {check["stratum"] for check in found["checks"]} == {"original", "typos", "stability", ""}
    code, out, _ = umpirical("gate", fickle.folder, "--baseline", fickle.folder / "stress.json", "--json")
    assert code == REFUSED
    assert {row["standing"] for row in json.loads(out)["baseline"]["rows"]} <= {"not shown", "not comparable"}
    code, _, err = umpirical("gate", steady.folder, "--policy", "adjudication")
    assert code == USAGE
    assert "no policy file 'adjudication' for stress tests" in err
    (tmp_path / "wide.yaml").write_text(
        "policy: wide\nchecks:\n  - {measure: excess-change, at: same-verdict, at_most: 1}\n"
        "  - {measure: shift-equivalence, at: same-verdict, within: 100}\n"
        "  - {measure: flip-rate, at: repeats, at_most: 1}\n"
        "  - {measure: unparsed-rate, omit: true}\n  - {measure: failure-rate, omit: true}\n"
        "  - {measure: weighted-kappa, at: original, omit: true}\n"
        "  - {measure: agreement-beyond-length, at: original, omit: true}\n"
    )
    code, out, _ = umpirical("gate", fickle.folder, "--policy", tmp_path / "wide.yaml", "--json")
    found = json.loads(out)
    assert (code, found["policy"], found["verdict"]) == (0, "wide", "use-with-restrictions")
    assert "Correctness was not checked" in found["line"]


def test_a_judge_of_agents_is_held_to_the_checks_of_its_report(umpirical, tmp_path):
    study = write_agent_study(tmp_path, "sound-auditor", "policy-blind", count=12)
    reports = {report.judge: report for report in front_door.run(study, progress=False, trust=True)}
    for name, report in reports.items():
        code, out, _ = umpirical("gate", report.folder, "--json")
        assert json.loads(out)["verdict"] == report.decision, name
        assert code == {"use": 0, "use-with-restrictions": 0, "do-not-use": 3, "not-enough-data": 4}[report.decision]
    sound, blind = (report.folder for report in reports.values())
    code, out, _ = umpirical("gate", blind, "--baseline", sound, "--json")
    worse = {row["measure"] for row in json.loads(out)["baseline"]["rows"] if row["standing"] == "worse"}
    assert "policy-blind-verdict" in worse


# In Python.


async def test_python_says_the_same(study):
    run = run_of(study, "dim")
    found = front_door.gate(run, policy="adjudication", baseline=run_of(study, "sound"))
    assert (found.verdict, found.exit_code, found.passed) == ("regression", REGRESSED, False)
    assert await front_door.gate_async(str(run), policy="adjudication", baseline=str(run_of(study, "sound"))) == found
    with pytest.raises(UsageError, match="margin"):
        front_door.gate(run, margin=2)


def test_a_study_with_a_judge_that_was_never_tested_does_not_pass(umpirical, study, tmp_path):
    copy = shutil.copytree(study, tmp_path / "study")
    for run in (copy / "runs").glob("locked-*"):
        shutil.rmtree(run)
    code, out, err = umpirical("gate", copy, *SMOKE)
    assert (code, out) == (USAGE, "")
    assert "no run of locked" in err
    assert umpirical("gate", run_of(copy, "sound"), *SMOKE)[0] == USED
