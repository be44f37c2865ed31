"""docs/data/own-answers.md says what is made of your own answers."""

from collections import Counter

from tests.docs.reading import ROOT, blocks, table
from umpirical.domain.stimuli import TIER_2
from umpirical.stimuli.controlled.carriers.carrier import _Entry, read_carriers
from umpirical.stimuli.controlled.carriers.crossing import MOST_CROSSED, carrier_quads, carriers_checked
from umpirical.stimuli.controlled.carriers.pairs import EDITS, LAYOUTS, MOST_EDITED, carrier_stimuli
from umpirical.store.yaml_files import parse_yaml
from umpirical.study.file import parse_study

GUIDE = ROOT / "docs" / "data" / "own-answers.md"

STUDY, ANSWERS = blocks(GUIDE, "yaml")


def test_the_study_names_the_file(tmp_path):
    assert parse_study(STUDY, tmp_path).spec.own_answers == "answers.yaml"


def test_the_example_is_sound_and_crosses_in_every_claim():
    carriers = read_carriers(parse_yaml(ANSWERS, name="answers.yaml"))
    pairs, quads = list(carrier_stimuli(carriers, seed=1)), list(carrier_quads(carriers, seed=1))
    assert carriers_checked(carriers, pairs + quads, pairs + quads).passed
    assert {stimulus.crossed_pair for stimulus in quads} == {f"carrier:boat-hire:{n}" for n in (1, 2, 3)}
    assert Counter(stimulus.family for stimulus in pairs)["own-graded"] >= 5


def test_the_keys_are_all_there():
    assert {row[0].strip("`") for row in table(GUIDE, "key")} == set(_Entry.model_fields)


def test_the_families_and_how_much_is_made_of_each():
    rows = {row[0].strip("`"): row[2] for row in table(GUIDE, "family")}
    assert rows == {
        "own-graded": f"{len(EDITS) * MOST_EDITED} pairs",
        "own-equal": f"{len(LAYOUTS)} pairs",
        "own-figures": f"{MOST_CROSSED} crossed pairs",
    }
    assert set(rows) == TIER_2
