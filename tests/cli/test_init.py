"""`umpirical init --from`: a study file that runs, and says what was guessed."""

import json
import shutil

import pytest

from tests.datasets.described import PERSUADE
from umpirical.datasets.items import read_items
from umpirical.protocols.catalogue import start_study
from umpirical.protocols.stress.record import StressReport
from umpirical.protocols.stress.spec import ENOUGH, RUBRIC_PLACEHOLDER, SAMPLE, start_stress_study
from umpirical.study.file import read_study

ANSWERS = [
    ("a1", "Why is the sky blue?", "Because air scatters blue light more than red.", "good"),
    ("a2", "Why is the sky blue?", "It mirrors the sea, as anybody can see.", "poor"),
    ("a3", "Why is grass green?", "It has chlorophyll,\nwhich takes the other colours.", "good"),
    ("a4", "Why is grass green?", 'Some say "because".', "fair"),
]


def write_answers(folder, rows=ANSWERS, header="id,question,answer,verdict", name="answers.csv"):
    folder.mkdir(parents=True, exist_ok=True)
    lines = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    path = folder / name
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def labelled(labels):
    return [(f"a{n}", "Why?", f"An answer of some length, number {n}.", label) for n, label in enumerate(labels)]


def test_the_study_that_is_written_is_read_and_takes_the_data_as_guessed(umpirical, tmp_path):
    data = write_answers(tmp_path)
    code, out, _ = umpirical("init", tmp_path, "--from", data)
    assert code == 0
    for name in ("umpirical.yaml", "instruction.txt", "rubric.txt"):
        assert f"wrote {tmp_path / name}" in out
    study = read_study(tmp_path)
    items, summary = read_items(study.spec.dataset, tmp_path)
    assert [item.name for item in items] == ["a1", "a2", "a3", "a4"]
    assert items[2].response == ANSWERS[2][2]
    assert items[0].task == "Why is the sky blue?"
    assert summary.labels == {"fair": 1, "good": 2, "poor": 1}
    assert study.spec.judges[0].kind == "grade"
    assert study.spec.stress.tests == ("vertical-spacing", "inline-spacing", "indentation", "stability")


def test_what_was_guessed_is_said_on_the_screen_and_in_the_file(umpirical, tmp_path):
    _, out, _ = umpirical("init", tmp_path, "--from", write_answers(tmp_path))
    text = (tmp_path / "umpirical.yaml").read_text()
    for role, column in (("response", "answer"), ("task", "question"), ("label", "verdict"), ("id", "id")):
        assert f"{role:9} {column}   (from its name)" in out
        assert f"    {role}: {column}   # from its name\n" in text
    assert "nominal: fair, good, poor   (in alphabetical order)" in out
    assert "the order of the labels is unknown" in out
    assert "# The order of the labels is unknown" in text
    assert '"answers.csv" (4 rows)' in text
    assert f"umpirical check {tmp_path}    then  umpirical run {tmp_path}" in out


def test_check_finds_nothing_wrong_with_it(umpirical, tmp_path):
    assert umpirical("init", tmp_path, "--from", write_answers(tmp_path))[0] == 0
    code, out, err = umpirical("check", tmp_path)
    assert (code, out.splitlines()[-1]) == (0, "ok"), out + err


def test_it_runs_as_it_is(umpirical, tmp_path):
    data = write_answers(tmp_path, labelled(["1", "2", "3", "4"] * 3))
    assert umpirical("init", tmp_path, "--from", data)[0] == 0
    code, out, err = umpirical("run", tmp_path)
    # A few rows settle nothing, and the run ends as it should.
    assert code == 4, out + err
    assert "100%" in err
    assert "failed 0  unparsed 0" in err
    assert list((tmp_path / "runs").iterdir())


def test_it_runs_with_rows_that_have_no_label(umpirical, tmp_path):
    data = write_answers(tmp_path, labelled(["1", "2", "", "4", ""] * 3))
    assert umpirical("init", tmp_path, "--from", data)[0] == 0
    code, out, err = umpirical("run", tmp_path)
    assert code == 4, out + err
    assert "failed 0  unparsed 0" in err


def test_it_runs_where_one_text_has_two_labels(umpirical, tmp_path):
    rows = [(f"a{n}", f"Is {n} even?", "Yes,\n\nit is.", "wrong" if n % 2 else "right") for n in range(12)]
    twice = [("b1", "Is 2 even?", "Yes,\n\nit is.", "wrong"), ("b2", "Is 2 even?", "Yes,\nit is.", "right")]
    assert umpirical("init", tmp_path, "--from", write_answers(tmp_path, rows + twice))[0] == 0
    code, out, err = umpirical("run", tmp_path)
    assert code == 4, out + err
    assert "failed 0  unparsed 0" in err


def test_a_label_column_of_two_values_is_found_without_a_telling_name(umpirical, tmp_path):
    rows = labelled(["up", "down"] * 6)
    for folder, name, because in (
        ("named", "correct", "from its name"),
        ("unnamed", "thumb", "the only column with a few short values"),
    ):
        data = write_answers(tmp_path / folder, rows, header=f"id,question,answer,{name}")
        code, out, err = umpirical("init", tmp_path / folder, "--from", data)
        assert code == 0, err
        assert f"{'label':9} {name}   ({because})" in out


def test_a_rubric_that_nobody_has_written_can_be_told(tmp_path):
    start_stress_study(tmp_path, write_answers(tmp_path), told={})
    assert read_study(tmp_path).rubric.strip() == RUBRIC_PLACEHOLDER


@pytest.mark.parametrize(
    ("labels", "scale", "comment"),
    [
        (["3", "1", "2"], 'scale: {kind: ordinal, labels: ["1", "2", "3"]}', "in numeric order"),
        (
            ["yes", "no"],
            'scale: {kind: binary, labels: ["no", "yes"]}',
            "The order of the two labels is unknown",
        ),
        (["yes", "no"], '# positive: ["yes"]', "which of the two is positive?"),
        (["0", "1"], 'scale: {kind: binary, labels: ["0", "1"]}', "two labels, in numeric order"),
        (["true", "null", '"'], 'labels: ["\\"", "null", "true"]}', "in alphabetical order"),
        ([str(n) for n in range(30)], "scale: {kind: interval, low: 0.0, high: 29.0}", "the true ends of the scale"),
    ],
)
def test_the_scale_is_written_with_what_is_not_known_of_it(umpirical, tmp_path, labels, scale, comment):
    data = write_answers(tmp_path, labelled(labels * 3))
    assert umpirical("init", tmp_path, "--from", data)[0] == 0
    text = (tmp_path / "umpirical.yaml").read_text()
    assert scale in text
    assert comment in text
    spec = read_study(tmp_path).spec.dataset
    items, _ = read_items(spec, tmp_path)
    assert all(item.labels for item in items)
    assert spec.positive == ()


@pytest.mark.parametrize(("count", "size"), [(SAMPLE, None), (SAMPLE + 1, SAMPLE)])
def test_of_many_rows_some_are_taken(tmp_path, count, size):
    start_stress_study(tmp_path, write_answers(tmp_path, labelled(["1", "2", "3"] * count)[:count]), told={})
    spec = read_study(tmp_path).spec.dataset
    assert spec.sample.size == size
    assert len(read_items(spec, tmp_path)[0]) == SAMPLE


def test_strata_are_offered_and_not_taken(tmp_path):
    rows = [(*row, topic) for row, topic in zip(labelled("1212"), ["sky", "sea"] * 2, strict=True)]
    data = write_answers(tmp_path, rows, header="id,question,answer,verdict,topic")
    start_stress_study(tmp_path, data, told={})
    text = (tmp_path / "umpirical.yaml").read_text()
    assert '# strata: ["topic"]' in text
    assert read_study(tmp_path).spec.dataset.columns.strata == ()


def test_columns_can_be_named(umpirical, tmp_path):
    data = write_answers(tmp_path, header="id,answer,odd,even")
    code, out, _ = umpirical(
        "init", tmp_path, "--from", data, "--response", "odd", "--task", "answer", "--label", "even"
    )
    assert code == 0
    assert out.count("(you named it)") == 3
    columns = read_study(tmp_path).spec.dataset.columns
    assert (columns.response, columns.task, columns.label) == ("odd", "answer", "even")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--label", "verdikt"], ["no column 'verdikt'", "did you mean 'verdict'?"]),
        (["--label", "id", "--response", "id"], ["one column has two roles"]),
        (["--label", "answer", "--response", "question"], ["more than 20 different texts", "--label"]),
    ],
)
def test_a_column_that_cannot_be_meant_is_answered_and_nothing_is_written(umpirical, tmp_path, arguments, words):
    data = write_answers(tmp_path / "data", labelled(["1", "2"] * 15))
    code, _, err = umpirical("init", tmp_path / "study", "--from", data, *arguments)
    assert code == 2
    assert all(word in err for word in words)
    assert "error: " in err
    assert not (tmp_path / "study").exists()


def test_columns_without_a_file_are_a_usage_error(umpirical, tmp_path):
    code, _, err = umpirical("init", tmp_path, "--label", "score")
    assert code == 2
    assert "add --from FILE" in err


def test_a_broken_file_is_answered_with_its_line(umpirical, tmp_path):
    data = tmp_path / "answers.csv"
    data.write_text('text,label\na,b\n"c,d\n')
    code, _, err = umpirical("init", tmp_path / "study", "--from", data)
    assert code == 2
    assert "answers.csv:3: the file ends inside a quoted field" in err
    assert not (tmp_path / "study").exists()


def test_nothing_is_ever_written_over(umpirical, tmp_path):
    data = write_answers(tmp_path)
    (tmp_path / "rubric.txt").write_text("my rubric")
    (tmp_path / "instruction.txt").write_text("my instruction")
    _, out, _ = umpirical("init", tmp_path, "--from", data)
    assert out.count("wrote ") == 2  # the study and its schema
    study = read_study(tmp_path)
    assert (study.rubric, study.instruction) == ("my rubric", "my instruction")
    before = (tmp_path / "umpirical.yaml").read_text()
    code, _, err = umpirical("init", tmp_path, "--from", data)
    assert code == 2
    assert "already exists" in err
    assert (tmp_path / "umpirical.yaml").read_text() == before


def test_data_beside_the_folder_is_named_from_it_and_every_command_told(umpirical, tmp_path):
    data = write_answers(tmp_path)
    _, out, _ = umpirical("init", tmp_path / "study", "--from", data)
    assert "umpirical check" in out
    assert "--outside" in out
    assert 'path: "../answers.csv"' in (tmp_path / "study" / "umpirical.yaml").read_text()
    study = read_study(tmp_path / "study", outside=True)
    assert len(read_items(study.spec.dataset, study.folder)[0]) == 4
    # Both can be moved, together.
    shutil.move(tmp_path, tmp_path.with_name(f"{tmp_path.name}-moved"))
    moved = tmp_path.with_name(f"{tmp_path.name}-moved") / "study"
    assert len(read_items(read_study(moved, outside=True).spec.dataset, moved)[0]) == 4


def test_data_far_away_is_named_in_full(tmp_path):
    data = write_answers(tmp_path / "far" / "away")
    started = start_stress_study(tmp_path / "a" / "study", data, told={})
    assert started.options == "--outside"
    assert read_study(started.file, outside=True).spec.dataset.path == str(data)


@pytest.mark.parametrize(
    "column",
    [
        "true",
        "a: b",
        "# no",
        "'",
        '"',
        "{x}",
        "{{y}}",
        "tab\there",
        "émile",
        "\u202e\u2028\u0085",
        "*a",
        "- a",
        "12",
        "\\",
    ],
)
def test_a_column_of_any_name_is_read_back_as_that(tmp_path, column):
    data = tmp_path / "answers.jsonl"
    records = [{column: f"An answer of some length, {n}.", "label": n % 2, "other": column} for n in range(4)]
    data.write_text("".join(json.dumps(record) + "\n" for record in records))
    start_stress_study(tmp_path, data, told={"response": column})
    text = (tmp_path / "umpirical.yaml").read_text()
    assert "\u202e" not in text
    spec = read_study(tmp_path).spec.dataset
    assert spec.columns.response == column
    assert read_items(spec, tmp_path)[0][1].response == "An answer of some length, 1."


def test_labels_of_any_spelling_are_read_back_as_they_are(tmp_path):
    labels = ["yes", "no", "on", "~", "1e3", "{{a}}", "a, b", "]", "\u202e", "\U0001f600", "ü"]
    data = tmp_path / "answers.jsonl"
    records = [{"text": f"An answer of some length, {n}.", "label": label} for n, label in enumerate(labels)]
    data.write_text("".join(json.dumps(record) + "\n" for record in records))
    start_stress_study(tmp_path, data, told={})
    spec = read_study(tmp_path).spec.dataset
    assert sorted(spec.scale.labels) == sorted(labels)
    assert [item.labels[0] for item in read_items(spec, tmp_path)[0]] == labels


@pytest.mark.parametrize("name", ["123", "true", "null", "étude", "a b", "1e5"])
def test_a_folder_of_any_name_gives_a_study_that_is_read(tmp_path, name):
    start_study(tmp_path / name)
    assert read_study(tmp_path / name).spec.study
    start_stress_study(tmp_path / "with" / name, write_answers(tmp_path / "with" / name), told={})
    assert read_study(tmp_path / "with" / name).spec.study


def test_foreign_names_cannot_drive_the_terminal(umpirical, tmp_path):
    data = tmp_path / "answers.csv"
    data.write_text(
        '"\x1b]52;c;x\x07text",label\n' + "".join(f"An answer of some length {n},\x1b{n % 2}\n" for n in range(4))
    )
    code, out, err = umpirical("init", tmp_path, "--from", data)
    assert code == 0
    assert "\x1b" not in out + err
    assert "\x1b" not in (tmp_path / "umpirical.yaml").read_text()


@pytest.mark.skipif(not PERSUADE.is_dir(), reason="needs the essays, which lie beside the repository")
def test_the_essays_make_a_study_without_a_word_of_help(umpirical, tmp_path):
    code, out, _ = umpirical("init", tmp_path, "--from", PERSUADE / "essays.csv")
    assert code == 0
    assert "ordinal: 1, 2, 3, 4, 5, 6   (in numeric order)" in out
    study = read_study(tmp_path, outside=True)
    items, summary = read_items(study.spec.dataset, tmp_path, seed=study.spec.seed)
    assert (summary.rows, len(items)) == (93, 93)
    code, out, err = umpirical("check", tmp_path, "--outside")
    assert (code, out.splitlines()[-1]) == (0, "ok"), out + err


# What a study at the defaults can show.


def paragraphs(count):
    """Texts that every default test can change."""
    text = "First, {0} is a number.\n\nSecond, it comes after {1}.\n\n- So much for that."
    return [(f"a{n}", "Why?", text.format(n, n - 1), "123"[n % 3]) for n in range(count)]


def verdicts_at_defaults(umpirical, folder, rows, examiner):
    umpirical("init", folder, "--from", write_answers(folder, rows))
    file = folder / "umpirical.yaml"
    file.write_text(file.read_text().replace("sound-examiner", examiner))
    umpirical("run", folder, "--yes")
    record = StressReport.model_validate_json(next(folder.rglob("stress.json")).read_text())
    return {cell.test: cell.verdict for cell in record.verdicts if cell.test != "original"}


def test_a_judge_that_never_changes_its_mind_passes_every_default_test(umpirical, tmp_path):
    found = verdicts_at_defaults(umpirical, tmp_path, paragraphs(SAMPLE + 30), "constant")
    assert found == dict.fromkeys(("vertical-spacing", "inline-spacing", "indentation", "stability"), "PASS")


def test_fewer_rows_than_a_pass_takes_are_said_to_be_too_few(umpirical, tmp_path):
    for rows, few in ((ENOUGH - 1, True), (ENOUGH, False)):
        folder = tmp_path / str(rows)
        _, out, _ = umpirical("init", folder, "--from", write_answers(folder, paragraphs(rows)))
        assert ("INCONCLUSIVE" in out) is few
        assert (f"needs {ENOUGH} items" in out) is few
