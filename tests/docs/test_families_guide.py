"""docs/data/own-tasks.md: its example is a sound family, and its keys are those that are read."""

from collections import Counter

from tests.docs.reading import ROOT, blocks, table
from umpirical.cli.start import draft_command
from umpirical.stimuli.controlled.datasheet_set import RECIPES, datasheet_stimuli
from umpirical.stimuli.controlled.drafts import LEAST, MOST
from umpirical.stimuli.controlled.family_files import KEYS, builtin_families, load_family
from umpirical.stimuli.controlled.gates import REQUEST_GAP, refuse_unsound, try_gates
from umpirical.stimuli.controlled.materials import crossed_materials
from umpirical.study.file import parse_study

GUIDE = ROOT / "docs" / "data" / "own-tasks.md"
TEXT = GUIDE.read_text(encoding="utf-8")

STUDY, EXAMPLE = blocks(GUIDE, "yaml")


def tea_stall(folder):
    (folder / "tea-stall.yaml").write_text(EXAMPLE, encoding="utf-8")
    return load_family(folder / "tea-stall.yaml")


def test_the_study_names_what_there_is(tmp_path):
    spec = parse_study(STUDY, tmp_path).spec
    known = {name for f in builtin_families() for name in (f.id, *(f"{f.id}.{place}" for place in f.sets))}
    assert set(spec.tasks) - {"my-family.yaml"} <= known


def test_the_example_passes_every_gate_on_both_ladders(tmp_path):
    family = tea_stall(tmp_path)
    materials = crossed_materials([(family, place) for place in range(len(family.sets))])
    assert len(materials.figures) == len(family.sets)
    stimuli = [*datasheet_stimuli(materials, RECIPES["standard"], seed=1)]
    assert Counter(stimulus.family for stimulus in stimuli)["figures"] > 0
    refuse_unsound(try_gates(materials, stimuli, datasheet_stimuli(materials, RECIPES["standard"], seed=1)))


def test_the_request_reads_as_the_page_says(tmp_path):
    request = tea_stall(tmp_path).asked(0).versions[0].request
    assert "*" + request.split("sentences. ")[1] + "*" in " ".join(TEXT.split())


def test_the_keys_are_those_that_are_read():
    assert {row[0].strip("`") for row in table(GUIDE, "key")} == set(KEYS["family"])


def test_figures_on_the_page():
    assert f"ships {len(builtin_families())} task families" in TEXT
    assert f"within {REQUEST_GAP:.0%}" in TEXT
    assert (LEAST, MOST) == (2, 5)
    assert "Two to five, each with" in TEXT
    [rounds] = [option.default for option in draft_command.params if option.name == "rounds"]
    assert rounds == 3
    assert "at most three calls" in TEXT
