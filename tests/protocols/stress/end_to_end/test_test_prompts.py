"""A prompt for one test: its texts and their originals are asked with it, and compared with nothing else."""

import json
from collections import Counter

import pytest

from tests.protocols.stress.end_to_end.rehearsals import notes_study
from tests.protocols.stress.end_to_end.studies import DECIDED
from tests.servers.chat_server import ChatServer
from umpirical.protocols.stress.record import StressReport

ROWS = 12

STRESS = "  tests: [typos, indentation, stability]\n  repeats: 2"

PROMPT = """\
{{instruction}} {{rubric}} HOW
Task: {{task}}
[answer, {{fence}}]
{{first}}
[end of answer, {{fence}}]
Grade it on this scale, {{order}}: {{scale}}.
"""


def study_of(folder, server, *, test_prompts="typos: strict.md", stress=STRESS):
    folder = notes_study(folder, stress=stress, rows=ROWS)
    (folder / "own.md").write_text(PROMPT.replace("HOW", "Be calm."))
    (folder / "strict.md").write_text(PROMPT.replace("HOW", "Be strict."))
    file = folder / "umpirical.yaml"
    model = f'{{adapter: openai-compatible, name: m, base_url: "{server.base_url}", price: free}}'
    prompts = f"prompts: {{baseline: own.md}}, test_prompts: {{{test_prompts}}}"
    old = "{adapter: simulated, name: sound-examiner}}"
    file.write_text(file.read_text().replace(old, f"{model}, {prompts}}}"))
    return folder


def report_of(folder):
    [path] = folder.glob("runs/*/stress.json")
    return StressReport.model_validate_json(path.read_text())


def value(report, name, test):
    [found] = [one for one in report.measures if (one.name, one.stratum, one.group) == (name, test, "")]
    return found.result


def prompt_of(body):
    return body["messages"][-1]["content"]


def strict_is_lower(body):
    """A judge that is steady under each of its prompts, and gives less under one of them."""
    return json.dumps({"grade": "2" if "Be strict." in prompt_of(body) else "3"})


def test_what_a_prompt_changes_is_no_change_of_the_text(tmp_path, umpirical):
    with ChatServer(strict_is_lower) as server:
        folder = study_of(tmp_path / "study", server)
        code, _, err = umpirical("run", folder, "--no-preflight")
        assert code in DECIDED, err
        asked = Counter("strict" if "Be strict." in prompt_of(body) else "own" for body in server.bodies)
    # Twice each: the originals with both prompts, and what a test changed with the one for it.
    assert asked == {"own": 2 * 2 * ROWS, "strict": 2 * 2 * ROWS}
    report = report_of(folder)
    assert value(report, "change-rate", "typos").value == 0
    assert value(report, "change-rate", "typos").denominator == ROWS
    assert value(report, "excess-change", "typos").denominator == ROWS
    assert value(report, "change-rate", "indentation").value == 0
    # Its own prompt gives everything 3, of which one in four deserves it; the other one has no part in that.
    assert (value(report, "accuracy", "original").value, value(report, "accuracy", "original").denominator) == (
        0.25,
        ROWS,
    )
    assert value(report, "flip-rate", "stability").denominator == ROWS


def test_a_change_under_the_prompt_of_a_test_is_seen_and_shown_with_its_verdicts(tmp_path, umpirical):
    from tests.protocols.stress.end_to_end.rehearsals import note

    originals = {note(number) for number in range(ROWS)}

    def answer(body):
        if "Be strict." not in prompt_of(body):
            return json.dumps({"grade": "4"})
        return json.dumps({"grade": "2" if any(text in prompt_of(body) for text in originals) else "1"})

    with ChatServer(answer) as server:
        folder = study_of(tmp_path / "study", server)
        assert umpirical("run", folder, "--no-preflight")[0] in DECIDED
    report = report_of(folder)
    assert value(report, "change-rate", "typos").value == 1
    assert value(report, "grade-shift", "typos").value == -1
    worst = [item for item in report.worst if item.test == "typos"]
    assert worst
    assert all((item.verdicts_original, item.verdicts_changed) == (["2", "2"], ["1", "1"]) for item in worst)


def test_the_prompt_is_part_of_the_question_and_stands_in_plan_record_and_page(tmp_path, umpirical):
    with ChatServer(strict_is_lower) as server:
        folder = study_of(tmp_path / "study", server)
        code, _, err = umpirical("plan", folder)
        assert code == 0
        assert "uses a special prompt for typos" in err
        umpirical("run", folder, "--no-preflight")
        [first] = (path.name for path in (folder / "runs").glob("*-*"))
        server.bodies.clear()
        (folder / "strict.md").write_text(PROMPT.replace("HOW", "Be strict. Be very strict."))
        umpirical("run", folder, "--no-preflight")
        # What was asked with its own prompt is not asked again.
        assert len(server.bodies) == 2 * 2 * ROWS
        assert all("Be very strict." in prompt_of(body) for body in server.bodies)
    [second] = (path for path in (folder / "runs").glob("*-*") if path.name != first)
    report = StressReport.model_validate_json((second / "stress.json").read_text())
    assert "Be very strict." in report.judge.test_prompts["typos"]
    [test] = [test for test in report.tests if test.name == "typos"]
    assert "has its own prompt" in test.about
    assert "Prompt for the test typos" in (second / "report" / "index.html").read_text()


def test_two_tests_may_share_a_prompt_and_have_the_harness_s_names(tmp_path, umpirical):
    with ChatServer(strict_is_lower) as server:
        folder = study_of(tmp_path / "s", server, test_prompts="typos: strict.md, format_invariance_3: strict.md")
        assert umpirical("run", folder, "--no-preflight")[0] in DECIDED
        # The originals with both prompts, and two changed texts of each.
        assert len(server.bodies) == 2 * 4 * ROWS
    report = report_of(folder)
    assert {value(report, "change-rate", test).denominator for test in ("typos", "indentation")} == {ROWS}


@pytest.mark.parametrize("test", ["paraphrase", "stability", "tpyos"])
def test_a_test_that_the_study_has_no_texts_of_is_refused(tmp_path, umpirical, test):
    with ChatServer(strict_is_lower) as server:
        code, _, err = umpirical("check", study_of(tmp_path / "s", server, test_prompts=f"{test}: strict.md"))
    assert code == 2
    assert f"test_prompts names '{test}'" in err
    assert "typos, indentation" in err


def test_what_a_generator_writes_is_judged_by_the_rubric_of_its_validators(tmp_path, umpirical):
    with ChatServer(strict_is_lower) as server:
        folder = study_of(
            tmp_path / "s", server, test_prompts="paraphrase: strict.md", stress="  tests: [paraphrase]\n  repeats: 2"
        )
        (folder / "strict.md").write_text(PROMPT.replace("{{rubric}}", "Go by your heart."))
        code, out, err = umpirical("check", folder)
    assert code == 2
    assert "prompt of paraphrase: it lacks the rubric" in out + err
