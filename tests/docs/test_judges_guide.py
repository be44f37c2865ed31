"""The guide to judges: what it says of functions is so."""

from pathlib import Path

from tests.docs.reading import ROOT, blocks, table
from umpirical.domain.trials import Presented
from umpirical.judges.arguments import MESSAGES, NAMES, arguments_of
from umpirical.judges.spec import JudgeSpec
from umpirical.store.yaml_files import load_yaml, read

PAGE = ROOT / "docs" / "connect" / "judges.md"


def test_the_function_is_called_by_its_names():
    code, space = blocks(PAGE, "python")[0], {}
    exec(code, space)  # noqa: S102  # the page's own
    spec = JudgeSpec(name="j", callable="m:judge")
    by_position, by_name = arguments_of(space["judge"], spec).of(Presented("task", "long", "b"))
    assert (by_position, set(by_name)) == ([], {"question", "answer_a", "answer_b"})
    assert space["judge"](**by_name) == "1"


def test_every_name_that_is_known_is_on_the_page():
    rows = dict(table(PAGE, "what is shown"))
    for role in ("task", "response"):
        said = set(rows[role].split(", "))
        assert said == set(NAMES[role]) - {"first"}
    assert set(rows["task and response as turns"].split(", ")) == MESSAGES
    things = {name.rpartition("_")[0] for name in NAMES["first"] if "_" in name}
    assert {name for name in things if name in rows["first"]} == things


def test_the_study_is_one(tmp_path: Path):
    (tmp_path / "study.yaml").write_text(blocks(PAGE, "yaml")[0])
    [entry] = load_yaml(tmp_path / "study.yaml").data["judges"]
    assert JudgeSpec.model_validate(entry).inputs["first"] == "left"


def test_the_prompts_on_the_page_are_those_that_are_measured():
    shown = [read(block, name="page") for block in blocks(PAGE, "yaml")]
    entries = [entry for found in shown if isinstance(found, dict) for entry in found["judges"] if "model" in entry]
    assert len(entries) == 4
    prompts = [*blocks(PAGE, "text"), *blocks(PAGE, "yaml")]
    for entry in entries:
        folder = ROOT / "tests" / "judges" / "production" / entry["name"]
        configured = read((folder / "judge.yaml").read_text(encoding="utf-8"), name="judge.yaml")
        assert {name: value for name, value in entry.items() if name not in ("name", "model")} == configured
        assert (folder / entry["prompts"]["baseline"]).read_text(encoding="utf-8") in prompts
