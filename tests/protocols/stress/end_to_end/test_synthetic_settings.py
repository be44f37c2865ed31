"""What a study may say about synthetic texts: how many are shown, how alike they may be, and to what."""

import json

import pytest

from tests.protocols.stress.end_to_end.rehearsals import notes_study
from tests.protocols.stress.end_to_end.studies import DECIDED
from umpirical.protocols.stress.record import StressReport
from umpirical.protocols.stress.spec import StressSpec
from umpirical.store.generation import GenerationStore
from umpirical.study.file import parse_study

SYNTHETIC = "  tests: [synthetic-ordinal]\n  temperatures: [0.7]\n  tries: 1\n"


def generated(folder, umpirical):
    code, out, err = umpirical("generate", folder, "--json")
    assert code == 0, err
    return json.loads(out)["synthetic-ordinal"]


def found(folder, check="unlike others"):
    store = GenerationStore(folder / "generated")
    try:
        return [result for one in store.attempts() for result in one.checks if result.check == check]
    finally:
        store.close()


@pytest.mark.parametrize(
    ("more", "compared", "allowed"),
    [
        # Six originals of the level and one text before; the source and both examples are among the originals or not.
        ("", range(6, 11), "less than 0.75 like each"),
        (
            "  unlike_originals: all\n",
            range(24, 27),
            "less than 0.75 like each of the originals of all levels and the generated ones of the level",
        ),
        (
            "  unlike_generated: all\n",
            range(6, 17),
            "less than 0.75 like each of the originals of the level and the generated ones of all levels",
        ),
        ("  most_similar: 0.6\n", range(6, 11), "less than 0.6 like each"),
    ],
)
def test_texts_are_compared_with_what_the_study_says(more, compared, allowed, tmp_path, umpirical):
    folder = notes_study(tmp_path / "study", stress=f"{SYNTHETIC}  per_level: 2\n{more}")
    generated(folder, umpirical)
    results = found(folder)
    assert {result.allowed for result in results} == {allowed}
    counts = [int(result.found.split(" of ")[1].split()[0]) for result in results]
    assert set(counts) <= set(compared)


def test_a_check_that_nothing_keeps_rejects_everything(tmp_path, umpirical):
    folder = notes_study(tmp_path / "study", stress=f"{SYNTHETIC}  per_level: 2\n  most_similar: 0.01")
    made = generated(folder, umpirical)
    assert made["generated"] == 0
    assert made["rejected"] == {"check: unlike others": 8}


def test_every_original_gets_every_level_and_the_report_says_how_many_have(tmp_path, umpirical):
    folder = notes_study(tmp_path / "study", stress=f"{SYNTHETIC}  per_source: 1", generator="misses: 0.3", rows=6)
    made = generated(folder, umpirical)
    assert made["wanted"] == 6 * 4
    assert 0 < made["generated"] < 24
    assert made["sources"].startswith("of 6 originals, ")
    assert umpirical("run", folder)[0] in DECIDED
    [report] = [StressReport.model_validate_json(path.read_text()) for path in folder.glob("runs/*/stress.json")]
    assert report.tests[1].made.sources == made["sources"]
    assert made["sources"] in (folder / "report" / "index.html").read_text()


def test_more_examples_are_shown_and_said(tmp_path, umpirical):
    folder = notes_study(tmp_path / "study", stress=f"{SYNTHETIC}  per_level: 1\n  examples: 4")
    generated(folder, umpirical)
    store = GenerationStore(folder / "generated")
    evidence = [one.stimulus.evidence["examples"] for one in store.attempts() if one.stimulus]
    store.close()
    assert evidence
    assert all(words.startswith("4 shown to the generator") for words in evidence)


@pytest.mark.parametrize(
    ("stress", "said"),
    [
        ("  per_level: 2\n  per_source: 2", "not both"),
        ("  most_similar: 0", "greater than 0"),
        ("  unlike_originals: some", "'level' or 'all'"),
        ("  examples: -1", "greater than or equal to 0"),
    ],
)
def test_what_makes_no_sense_is_refused(stress, said, tmp_path, umpirical):
    code, _, err = umpirical("check", notes_study(tmp_path / "study", stress=f"{SYNTHETIC}{stress}"))
    assert code == 2
    assert said in err


def test_a_study_that_sets_none_of_it_keeps_the_built_in_test(tmp_path):
    from umpirical.stimuli.perturbations.rewritten import SYNTHETIC_ORDINAL

    folder = notes_study(tmp_path / "study", stress=SYNTHETIC)
    spec = parse_study((folder / "umpirical.yaml").read_text(), folder).spec.stress
    assert spec.generated == (SYNTHETIC_ORDINAL,)
    assert isinstance(spec, StressSpec)
