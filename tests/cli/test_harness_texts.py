"""Perturbation files of the harness: its texts come in through our own checks, with what people decided on them."""

import csv

from tests.cli.harnesses import agents, answers, binary, essays, ordinal, outputs, perturbation
from tests.cli.test_harness import fates, started
from umpirical.protocols.stress.record import StressReport
from umpirical.study.file import read_study

TESTS = ["format_invariance_1", "semantic_paraphrase", "verbosity_bias_short"]


def reworded(text):
    """Another text of the same length and language, without the signs of a simulated writer."""
    return " ".join(f"{word[1:]}{word[0]}o" if word.islower() and len(word) > 3 else word for word in text.split(" "))


def shortened(text):
    """A text without its last words."""
    words = text.split(" ")
    return " ".join(words[: int(len(words) * 0.65)]) + "."


def given(rows):
    """Perturbations of essays: some are what their test asks for, others are not."""
    spaced = [
        perturbation("format_invariance_1", row, row["full_text"].replace("\n\n", "\n\n\n\n"), label=row["score"])
        for row in rows[:5]
    ]
    spaced[4]["generation_response"] += " And more."
    reworded_rows = [
        perturbation("semantic_paraphrase", row, reworded(row["full_text"]), label=row["score"], reviewed=number < 3)
        for number, row in enumerate(rows[:6])
    ]
    # A text that is the original, an error that the harness has saved as a text, and a row of an unknown test.
    reworded_rows[4]["generation_response"] = rows[4]["full_text"]
    reworded_rows[5]["generation_response"] = "False"
    return {
        "synthetic_format_invariance_1.csv": spaced,
        "synthetic_semantic_paraphrase.xlsx": [*reworded_rows, perturbation("mine", rows[0], "text", label="1")],
    }


PARTS = ("perturbation_config__tests_to_run", "evaluation_config__tests_to_evaluate")


def essays_run(root):
    config = ordinal(
        root, admin__perturbation_config__tests_to_run=TESTS, admin__evaluation_config__tests_to_evaluate=TESTS
    )
    return outputs(config, given(essays()))


def texts_of(folder):
    with (folder / "texts.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def reports(folder):
    return [StressReport.model_validate_json(path.read_text()) for path in folder.glob("runs/*/stress.json")]


def test_texts_of_the_harness_pass_our_checks_or_are_rejected_and_counted(umpirical, tmp_path):
    folder = tmp_path / "study"
    out = started(umpirical, folder, essays_run(tmp_path / "jrh"))
    assert "texts in texts.csv: 5 of format_invariance_1, 5 of semantic_paraphrase" in out
    assert "1 rows are not used: semantic_paraphrase: the text is an error of the harness" in out
    assert "1 rows are not used: mine: not a test with texts here" in out
    told = fates((folder / "migration.md").read_text())
    assert told["admin.dataset_config.dataset_name"] == "changed"
    code, out, err = umpirical("check", folder)
    assert code == 0, err
    assert "vertical-spacing: 4 of 5 texts proved" in out
    assert "1 rejected: the text changes more than the test may" in out
    assert umpirical("generate", folder)[0] == 0
    code, out, err = umpirical("run", folder)
    assert code in (3, 4), err
    [report] = reports(folder)
    made = {test.name: test.made for test in report.tests}
    # verbosity-short has no file, so it is written anew, for each original.
    assert (made["vertical-spacing"].proved, made["paraphrase"].accepted) == (4, 4)
    assert sum(made["paraphrase"].rejected.values()) == 1
    assert made["verbosity-short"].accepted == 5
    assert made["vertical-spacing"].rejected == {"the text changes more than the test may": 1}


def test_judges_see_the_texts_of_the_harness_word_for_word(umpirical, tmp_path):
    folder = tmp_path / "study"
    started(umpirical, folder, essays_run(tmp_path / "jrh"))
    umpirical("generate", folder)
    study = read_study(folder)
    stimuli = list(study.protocol.stimuli(study))
    texts = {row["text"] for row in texts_of(folder)}
    shown = {stimulus.candidates[0] for stimulus in stimuli if stimulus.family in ("paraphrase", "vertical-spacing")}
    assert len(shown) == 8
    assert shown < texts
    [evidence] = {stimulus.evidence["generator"] for stimulus in stimuli if stimulus.family == "paraphrase"}
    assert evidence == "none: the text was written elsewhere"


def test_what_people_kept_in_the_harness_is_a_decision_here(umpirical, tmp_path):
    folder, config = tmp_path / "study", essays_run(tmp_path / "jrh")
    out = started(umpirical, folder, config)
    file = config.parent / "synthetic_semantic_paraphrase.xlsx"
    assert f"umpirical review import {file} {folder} --format harness" in out
    umpirical("generate", folder)
    code, out, err = umpirical("review", "import", file, folder, "--format", "harness")
    assert (code, "3 new decisions" in out) == (0, True), out + err
    assert (
        "0 new decisions from synthetic_semantic_paraphrase.xlsx, 3 already known"
        in umpirical("review", "import", file, folder, "--format", "harness")[1]
    )
    umpirical("run", folder)
    made = {test.name: test.made for test in reports(folder)[0].tests}["paraphrase"]
    assert (made.reviewed, made.accepted, made.undecided) == (3, 4, 1)


HARM = {"0": "True", "1": "False"}
"""What the harness's validator says of an answer whose label was flipped."""


def test_a_flip_to_the_label_of_the_original_is_no_flip(umpirical, tmp_path):
    rows, tests = answers(), ["label_flip"]
    columns = {"task": "test_case", "response": "generation", "expected": "human_consensus"}
    flipped = [
        perturbation(
            "label_flip", row, reworded(row["generation"]), label=str(row["human_consensus"] == "0"), **columns
        )
        for row in rows[:6]
    ]
    flipped[0]["validation_score"] = "False"
    flipped[1]["validation_score"] = "maybe"
    config = binary(
        tmp_path / "jrh",
        admin__perturbation_config__tests_to_run=tests,
        admin__evaluation_config__tests_to_evaluate=tests,
    )
    folder = tmp_path / "study"
    started(umpirical, folder, outputs(config, {"synthetic_label_flip.csv": flipped}))
    targets = [row["target"] for row in texts_of(folder)]
    assert targets == ["0", "maybe", "1", "0", "1", "0"]
    code, out, err = umpirical("check", folder)
    assert code == 0, err
    assert "1 not attempted: the target of the text is the label of its original" in out
    assert "1 not attempted: the target of the text is not a label of the scale" in out


def test_an_own_table_of_texts_is_refused_where_it_does_not_fit(umpirical, tmp_path):
    folder = tmp_path / "study"
    started(umpirical, folder, essays_run(tmp_path / "jrh"))
    table = folder / "texts.csv"
    whole = table.read_text()
    for text, said in (
        (whole.replace("format_invariance_1", "typos"), "'typos' is not a test of this study with texts"),
        (whole.replace('"text"', '"txt"', 1), "no column 'text'"),
        ("test,task,response,text\nparaphrase,a,b,\n", "the text is empty"),
    ):
        table.write_text(text)
        code, _, err = umpirical("check", folder)
        assert (code, said in err) == (2, True), err
    study = folder / "umpirical.yaml"
    study.write_text(study.read_text().replace("texts: texts.csv", "texts: ../secret.csv"))
    code, _, err = umpirical("check", folder)
    assert (code, "outside the study folder" in err) == (2, True), err


def test_a_text_that_was_kept_with_another_label_does_not_keep_its_label(umpirical, tmp_path):
    tests = {f"admin__{part}": ["semantic_paraphrase"] for part in PARTS}
    rows = essays()[:4]
    texts = [
        perturbation("semantic_paraphrase", row, reworded(row["full_text"]), label=row["score"] + ".0", reviewed=True)
        for row in rows
    ]
    texts[1]["validation_score"] = "4.0"
    texts[2]["human_reviewed"] = ""
    folder, config = tmp_path / "study", outputs(ordinal(tmp_path / "jrh", **tests), {"synthetic_x.csv": texts})
    started(umpirical, folder, config)
    umpirical("generate", folder)
    assert umpirical("review", "import", config.parent / "synthetic_x.csv", folder, "--format", "harness")[0] == 0
    umpirical("run", folder)
    [made] = [test.made for test in reports(folder)[0].tests if test.name == "paraphrase"]
    assert (made.reviewed, made.rejected_by_review, made.undecided) == (3, 1, 1)


def test_what_a_failed_validator_says_is_no_label(umpirical, tmp_path):
    tests = {f"admin__{part}": ["label_flip"] for part in PARTS}
    columns = {"task": "test_case", "response": "generation", "expected": "human_consensus"}
    texts = [
        perturbation("label_flip", row, reworded(row["generation"]), label="False", **columns) for row in answers()[:4]
    ]
    texts[0]["validation_reasoning"] = "Error during LLM call: timeout"
    config = outputs(binary(tmp_path / "jrh", **tests), {"synthetic_label_flip.csv": texts})
    started(umpirical, tmp_path / "study", config)
    assert [row["target"] for row in texts_of(tmp_path / "study")] == ["", "0", "0", "0"]


def test_texts_of_agents_are_named_and_not_used(umpirical, tmp_path):
    row = {"full_text": "a transcript", "assignment": "asks: it asks", "score": "0"}
    files = {"synthetic_agent_perturbation.csv": [perturbation("agent_perturbation", row, "another", label="1")]}
    out = started(umpirical, tmp_path / "study", outputs(agents(tmp_path / "jrh"), files))
    assert "synthetic_agent_perturbation.csv is not used: a transcript as text has no calls" in out
