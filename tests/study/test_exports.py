"""A run's results for other programs hold what its record holds."""

import csv
import json
import re

import pyarrow.parquet as pq
import pytest

from tests.protocols.pairs.pair_studies import labelled, write_study
from umpirical import run
from umpirical.reports import numbers
from umpirical.study import exports

FORMULA = "=HYPERLINK(1)"


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    rows = [{**row, "subset": FORMULA} for row in labelled(12)]
    [report] = run(write_study(tmp_path_factory.mktemp("exports"), rows=rows, profiles=["slot-locked"]), trust=True)
    return report


def exported(umpirical, report, form, path):
    code, out, err = umpirical("export", report.folder, "--to", form, "--out", path)
    printed = " and printing its report" if form in {"pdf", "png"} else ""
    assert (code, err) == (0, f"measuring the run{printed}\n")
    assert path.name in out
    return path


def test_measures_have_the_numbers_of_the_record(measured, umpirical, tmp_path):
    with exported(umpirical, measured, "measures", tmp_path / "m.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    table = pq.read_table(exported(umpirical, measured, "measures", tmp_path / "m.parquet")).to_pylist()
    record = json.loads((measured.folder / "pairs.json").read_text())["measures"]
    assert len(rows) == len(table) == len(record)
    for row, typed, one in zip(rows, table, record, strict=True):
        result = one["result"]
        known = result["kind"] == "estimate"
        assert (row["measure"], row["stratum"]) == (one["name"], one["stratum"])
        assert typed["value"] == (result["value"] if known else None)
        assert row["value"] == (str(result["value"]) if known else "")
        assert typed["low"] == (result["interval"]["low"] if known and result["interval"] else None)
        assert typed["undefined"] == (None if known else result["reason"])


def test_judgments_have_a_row_for_each_call(measured, umpirical, tmp_path):
    with exported(umpirical, measured, "judgments", tmp_path / "j.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    table = pq.read_table(exported(umpirical, measured, "judgments", tmp_path / "j.parquet"))
    assert len(rows) == table.num_rows == measured.record.run.trials
    assert {row["trial_id"] for row in rows} == set(table["trial_id"].to_pylist())


def test_no_cell_is_a_formula(measured, umpirical, tmp_path):
    text = exported(umpirical, measured, "judgments", tmp_path / "j.csv").read_text()
    assert FORMULA in text
    with (tmp_path / "j.csv").open(newline="", encoding="utf-8") as file:
        assert not [cell for row in csv.reader(file) for cell in row if cell.startswith(("=", "@", "+"))]
    assert exports._cell(FORMULA) == f"'{FORMULA}"
    assert exports._cell(-1.5) == -1.5


def test_the_hub_reads_the_model_card(measured, umpirical, tmp_path):
    from huggingface_hub import ModelCard

    path = exported(umpirical, measured, "model-card", tmp_path / "README.md")
    data = ModelCard(path.read_text()).data
    found = {(one.metric_type, one.metric_name.partition(" · ")[0]): one.metric_value for one in data.eval_results}
    # Each name has the interval and the counts too.
    limits = [
        numbers.measured_counts(one, one.result) for one in measured.record.measures if one.result.kind == "estimate"
    ]
    assert all(any(each.metric_name.endswith(f" · {counts}") for counts in limits) for each in data.eval_results)
    whole = [one for one in measured.record.measures if not one.group and one.result.kind == "estimate"]
    assert found == {(one.name, f"{one.title} {one.stratum}".strip()): one.result.value for one in whole}
    assert data.model_name == "slot-locked"
    assert "**Do not use**" in path.read_text()


@pytest.mark.parametrize("name", ["m.xls", "table"])
def test_another_kind_of_table_is_refused(measured, umpirical, tmp_path, name):
    code, _, err = umpirical("export", measured.folder, "--to", "measures", "--out", tmp_path / name)
    assert code == 2
    assert ".csv or a .parquet" in err


@pytest.mark.parametrize("form", ["pdf", "png"])
def test_without_a_browser_it_says_what_to_do(measured, umpirical, tmp_path, monkeypatch, form):
    monkeypatch.setattr(exports, "BROWSERS", ("no-such-browser",))
    code, _, err = umpirical("export", measured.folder, "--to", form, "--out", tmp_path / f"x.{form}")
    assert code == 2
    assert "install Chromium, or open the report" in err
    assert not list(tmp_path.iterdir())


@pytest.mark.browser
def test_a_browser_prints_the_report_and_photographs_it(measured, umpirical, tmp_path):
    pdf = exported(umpirical, measured, "pdf", tmp_path / "r.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-")
    # Folded on the screen it would be two sheets.
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 4
    png = exported(umpirical, measured, "png", tmp_path / "r.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert (int.from_bytes(png[16:20]), int.from_bytes(png[20:24])) == (1280, 800)


@pytest.mark.browser
def test_nothing_is_folded_in_print(measured, browser):
    page = browser.new_page()
    page.goto((measured.folder / "pairs.html").as_uri())
    folds = page.locator("details.fold > section").all()
    assert folds
    assert not any(fold.is_visible() for fold in folds)
    page.emulate_media(media="print")
    assert all(fold.is_visible() for fold in folds)
    page.close()


def test_the_methods_section_says_what_the_record_says(measured, umpirical, tmp_path):
    text = exported(umpirical, measured, "methods", tmp_path / "methods.md").read_text()
    record = measured.record
    for value in (record.judge.fingerprint, record.run.stimuli, record.run.responses_sha256, record.decision.verdict):
        assert value in text
    found = [one.result for one in record.measures if one.result.kind == "estimate"]
    assert f"Of {numbers.count(len(record.measures))} measures, {numbers.count(len(found))} have a value" in text
    counted = [int(line.rpartition("(")[2].rstrip(")")) for line in text.splitlines() if line.startswith("- ")]
    assert sum(counted) == sum(one.interval is not None for one in found) > 10
    outcomes = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) (?:gave|abstained|failed|were)", text)]
    assert sum(outcomes) == sum(row.planned for row in record.audit)


def test_a_hostile_name_is_no_markup_in_the_methods_section(measured):
    judge = measured.record.judge.model_copy(update={"name": "<b>x</b>\n# Not a heading"})
    text = exports.methods_text(measured.record.model_copy(update={"judge": judge}))
    assert "<b>" not in text
    assert "\n# Not" not in text
