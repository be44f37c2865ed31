"""The gate in the view: what the command decides, from names that the page offers and nothing else."""

import json

import pytest

from umpirical.store.manifests import read_manifest, write_manifest
from umpirical.study.results import gate_run

from . import studies
from .serving import viewing


@pytest.fixture(scope="module")
def twice(tmp_path_factory):
    """The same judge, measured in two studies; the second time it names position 1 whatever is in it."""
    folder = tmp_path_factory.mktemp("twice")
    first = studies.datasheet_run(folder / "january")
    # Both may be begun within one second.
    manifest = read_manifest(first.folder / "run.json")
    write_manifest(first.folder / "run.json", manifest | {"created": "2026-01-15T09:00:00+00:00"})
    always = json.dumps({"verdict": "1"})
    second = studies.datasheet_run(folder / "march", answer=lambda run: studies.sealed(run, text=always))
    with viewing(folder) as found:
        runs = {run.study.name: run for study in found.view.catalogue.studies() for run in study.runs}
        yield found, first, second, runs


def test_it_decides_as_the_command_does(twice):
    found, _, second, runs = twice
    record = second.folder / "datasheet.json"
    for policy in ("", "adjudication", "ci-smoke"):
        text = found.get(f"/runs/{runs['march'].key}/gate?policy={policy}&baseline=").text
        gate = gate_run(record, policy=policy)
        assert gate.line in text
        assert f"exits with {gate.exit_code}" in text
        assert [check.why in text for check in gate.checks] == [True] * len(gate.checks)


def test_another_run_on_the_same_stimuli_is_the_baseline(twice):
    found, first, second, runs = twice
    gate = gate_run(second.folder / "datasheet.json", baseline=first.folder / "datasheet.json")
    assert gate.baseline.worse
    page = found.get(f"/runs/{runs['march'].key}/gate?baseline={runs['january'].key}")
    assert [row.words in page.text for row in gate.baseline.rows] == [True] * len(gate.baseline.rows)
    assert page.text.count(">WORSE<") == len(gate.baseline.worse)
    assert f"umpirical gate march/runs/{second.folder.name} --baseline january/runs/{first.folder.name}" in page.text


@pytest.mark.parametrize(
    "query",
    ["policy=../policy.yaml", "policy=%2Fetc%2Fpasswd", "policy=policy.yaml", "baseline=../january", "baseline=%00"],
)
def test_an_address_names_no_file(twice, query):
    found, _, _, runs = twice
    (found.view.catalogue.root / "policy.yaml").write_text("policy: mine\nextends: ranking\n")
    answer = found.get(f"/runs/{runs['march'].key}/gate?{query}")
    assert answer.status == 404
    assert "mine" not in answer.text


def test_a_run_that_is_not_measured_has_no_gate(begun):
    with viewing(begun.folder.parents[1]) as found:
        answer = found.get(f"{found.run}/gate")
        assert (answer.status, "not measured yet" in answer.text) == (409, True)


def test_runs_on_other_stimuli_are_not_offered(tmp_path):
    studies.datasheet_run(tmp_path / "parcels")
    studies.stress_run(tmp_path / "essays", ["a", "b", "c"])
    with viewing(tmp_path) as found:
        runs = {run.study.name: run for study in found.view.catalogue.studies() for run in study.runs}
        text = found.get(f"/runs/{runs['parcels'].key}/gate").text
        assert '<select name="policy"' in text
        assert '<select name="baseline"' not in text
        stress = found.get(f"/runs/{runs['essays'].key}/gate")
        assert (stress.status, 'name="policy"' in stress.text) == (200, False)
        assert found.get(f"/runs/{runs['parcels'].key}/gate?baseline={runs['essays'].key}").status == 404


def test_the_history_shows_each_run_and_what_became_worse(twice):
    found, first, second, runs = twice
    [link] = [each for each in set(found.get("/").links) if "/judges/" in each]
    text = found.ask("GET", link).text
    assert text.index(runs["march"].key) < text.index(runs["january"].key)
    gate = gate_run(second.folder / "datasheet.json", baseline=first.folder / "datasheet.json")
    assert ", ".join(row.title for row in gate.baseline.worse) in text
    assert f"/runs/{runs['march'].key}/gate?baseline={runs['january'].key}" in text
    # A line for each run under every check. What was measured is drawn; the worst part is said in words.
    assert text.count('class="trend"') == len(gate.checks)
    parts = [check for check in gate.checks if check.stratum == "each-part"]
    assert len(parts) == 2
    assert all(check.title.endswith("in the worst part") and check.why in text for check in parts)
    undefined = text.count("an interval needs at least two")
    assert text.count('<svg class="dot"') + undefined == 2 * (len(gate.checks) - len(parts))


def test_a_damaged_record_takes_no_other_away(twice, tmp_path):
    _, first, second, _ = twice
    studies.copied(first, tmp_path / "january")
    (studies.copied(second, tmp_path / "march") / "datasheet.json").write_text('{"format": "judge-datasheet/2"}')
    with viewing(tmp_path) as found:
        runs = {run.study.name: run for study in found.view.catalogue.studies() for run in study.runs}
        [link] = [each for each in found.get(f"/runs/{runs['january'].key}").links if "/judges/" in each]
        answer = found.ask("GET", link)
        assert (answer.status, runs["january"].key in answer.text) == (200, True)
        assert runs["march"].key not in answer.text


def test_a_judge_that_nobody_measured_is_not_found(twice):
    found, *_ = twice
    assert found.get(f"/judges/{'0' * 16}").status == 404
