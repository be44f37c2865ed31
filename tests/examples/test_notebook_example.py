"""The notebook in examples/notebook: executed as it stands, it recovers the flaws that its judges were given."""

import asyncio
import json

import nbformat
import pytest
from statsmodels.stats.multitest import multipletests

import umpirical
from tests.api.notebooks import Notebook
from tests.docs.reading import ROOT

pytestmark = pytest.mark.heavy

NOTEBOOK = ROOT / "examples" / "notebook" / "three-judges.ipynb"

TOLD = """\
import json
flaws["covers"] = (flaws["low"] <= flaws["true_value"]) & (flaws["true_value"] <= flaws["high"])
facts = found[found["cause"] == "facts"]
print(json.dumps({
    "flaws": flaws.to_dict("records"),
    "facts_cover": ((facts["low"] <= FACTS) & (FACTS <= facts["high"])).tolist(),
    "calls": len(calls),
    "missing": int((calls["outcome"] != "verdict").sum()),
    "clusters": int(calls["cluster"].nunique()),
    "checked": checked[["p_value", "adjusted_p"]].dropna().astype(float).values.tolist(),
}))
"""


async def run(folder, cells):
    """Runs the cells, and returns the outputs of each."""
    async with Notebook(folder, *cells) as notebook:
        return [await notebook.run(number) for number in range(len(cells))]


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """The folder in which the notebook ran, its last values, and all outputs."""
    folder = tmp_path_factory.mktemp("notebook")
    cells = [cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells if cell.cell_type == "code"]
    outputs = asyncio.run(run(folder, [*cells, TOLD]))
    assert [output.traceback for each in outputs for output in each if output.output_type == "error"] == []
    return folder, json.loads(outputs[-1][0].text), [output for each in outputs for output in each]


def test_it_recovers_every_flaw_and_finds_none_where_there_is_none(executed):
    _, told, _ = executed
    assert (told["calls"], told["missing"], told["clusters"]) == (3 * 320, 0, 40)
    assert len(told["flaws"]) == 6
    assert [flaw for flaw in told["flaws"] if not flaw["covers"]] == []
    assert told["facts_cover"] == [True] * 3
    planted = {("first-lover", "position"), ("word-lover", "length")}
    assert {(flaw["judge"], flaw["cause"]) for flaw in told["flaws"] if flaw["corrected_p"] < 0.05} == planted


def test_its_corrected_p_values_are_those_of_statsmodels(executed):
    _, told, _ = executed
    alone, corrected = zip(*told["checked"], strict=True)
    assert len(alone) == 3, "one for each pair of judges; rates that no judge has any of are not tested"
    assert multipletests(alone, method="holm")[1] == pytest.approx(corrected)


def test_its_figure_folders_and_methods_are_there(executed):
    folder, _, outputs = executed
    assert (folder / "flaws.png").read_bytes().startswith(b"\x89PNG")
    assert any("image/png" in output.get("data", {}) for output in outputs)
    package = folder / "replication"
    assert umpirical.verify(package).holds
    (package / "pairs.json").write_text((package / "pairs.json").read_text().replace("320", "321"))
    assert not umpirical.verify(package).holds
    methods = (folder / "methods.md").read_text()
    assert "first-lover" in methods
    assert "320 calls" in methods
    assert "cluster-Wilson" in methods


def test_it_is_kept_without_outputs():
    kept = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(kept)
    assert [cell for cell in kept.cells if cell.get("outputs") or cell.get("execution_count")] == []
