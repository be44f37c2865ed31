"""`export`, `publish` and `verify` in Python do what the commands do, to the byte."""

import pytest

import umpirical
from tests.cases import each
from tests.protocols.pairs.pair_studies import labelled, write_study
from umpirical.cli import main
from umpirical.cli.results import export_command
from umpirical.domain.errors import UsageError
from umpirical.study.exports import FORMS


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    [found] = umpirical.run(write_study(tmp_path_factory.mktemp("over"), rows=labelled(12), profiles=["careful"]))
    return found


@each("form", ["measures", "judgments", "methods", "model-card"])
def test_an_export_is_that_of_the_command(report, form, tmp_path):
    name = "table.csv" if form in {"measures", "judgments"} else "text.md"
    written = umpirical.export(report, to=form, out=tmp_path / name)
    with pytest.raises(SystemExit) as ended:
        main(["export", str(report.folder), "--to", form, "--out", str(tmp_path / f"command-{name}")])
    assert ended.value.code == 0
    assert written.read_bytes() == (tmp_path / f"command-{name}").read_bytes()
    assert umpirical.export(report.folder, to=form).parent == report.folder


def test_an_unknown_form_names_those_there_are(report):
    with pytest.raises(UsageError, match="unknown form 'excel'") as raised:
        umpirical.export(report, to="excel")
    assert raised.value.fix == f"choose one of: {', '.join(FORMS)}"


def test_the_command_offers_every_form():
    [form] = [each for each in export_command.params if each.name == "form"]
    # MLflow gets a run, not a file.
    assert tuple(form.type.choices) == (*FORMS, "mlflow")


def test_a_run_and_its_package_hold_until_a_byte_is_changed(report, tmp_path):
    whole = umpirical.verify(report)
    assert whole.holds
    assert next(check.part for check in whole.checks[report.folder.name]) == "run.json"
    package = umpirical.publish(report, tmp_path / "package", license="CC-BY-4.0")
    published = umpirical.verify(package)
    assert published.holds
    assert "replies" in published.not_checked
    assert "not checked  replies" in repr(published)
    # Texts of your own are not published unless you say so.
    texts = [row["chosen"] for row in labelled(12)]
    assert not [path.name for path in package.iterdir() if any(text.encode() in path.read_bytes() for text in texts)]
    (package / "pairs.md").write_text("Use it.")
    damaged = umpirical.verify(package)
    assert not damaged.holds
    assert "DAMAGED" in repr(damaged)
    with pytest.raises(UsageError, match="not empty"):
        umpirical.publish(report, package)


def test_a_claim_that_cannot_be_read_is_damaged(tmp_path, umpirical):
    claim = tmp_path / "win.claim.json"
    claim.write_text('{"format": "judge-claim/1", ')
    code, out, err = umpirical("verify", claim)
    assert (code, err) == (1, "")
    assert "DAMAGED" in out


def test_a_study_without_runs_does_not_hold(tmp_path):
    (tmp_path / "runs").mkdir()
    assert not umpirical.verify(tmp_path).holds
