"""Self-preference end to end: own words, a claim of authorship and the quality of writing are told apart."""

import json
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from tests.protocols.stress.end_to_end.loopback import answer
from tests.servers.chat_server import ChatServer
from tests.trusting import trusting
from umpirical.cli import cli
from umpirical.domain.measures import Estimate, Interval
from umpirical.protocols.stress.spec import StressSpec
from umpirical.protocols.stress.stimuli import ONE_TEXT
from umpirical.protocols.stress.verdicts import _self_preference
from umpirical.stimuli.perturbations.authors import OTHER_CLAIM, OWN_CLAIM
from umpirical.stimuli.perturbations.proof import prove

WORDS = [
    "harbour",
    "library",
    "orchard",
    "railway",
    "theatre",
    "workshop",
    "opened",
    "closed",
    "growing",
    "winter",
    "summer",
    "bridge",
    "market",
]
TESTS = ("other-words", "own-words", "other-claim", "own-claim")
ITEMS = 40

STUDY = """\
study: own
seed: 3
dataset:
  path: towns.csv
  columns: {response: text, task: task, label: grade, id: name}
  scale: {kind: ordinal, labels: ["1", "2", "3", "4", "5", "6"]}
rubric: rubric.txt
stress:
  tests: [self-preference]
  generator: {model: GENERATOR}
  own_generator: {model: OWN}
  validator: {model: VALIDATOR}
judges:
  - {name: sound, model: {adapter: simulated, name: sound-examiner}}
  - {name: words, model: {adapter: simulated, name: prefers-own-words}}
  - {name: name, model: {adapter: simulated, name: prefers-own-name}}
"""

SIMULATED = {
    "GENERATOR": "{adapter: simulated-writer, name: other-generator, model_args: {misses: 0.9}}",
    "OWN": "{adapter: simulated-writer, name: generator}",
    "VALIDATOR": "{adapter: simulated-writer, name: validator}",
}


def write(folder, models):
    rng = np.random.default_rng(1)
    lines = ["name,task,text,grade"]
    for number in range(ITEMS):
        text = " ".join(rng.choice(WORDS, 40))
        lines.append(
            f"e{number},Describe the town.,{text.capitalize()}. It has {100 + number} houses.,{1 + number % 6}"
        )
    (folder / "towns.csv").write_text("\n".join(lines) + "\n")
    (folder / "rubric.txt").write_text("Better descriptions get higher grades.\n")
    study = STUDY
    for place, model in models.items():
        study = study.replace(place, model)
    (folder / "umpirical.yaml").write_text(study)


def record(folder, judge):
    [run] = (folder / "runs").glob(f"{judge}-*")
    return json.loads((run / "stress.json").read_text())


def shift(report, test):
    return next(m["result"] for m in report["measures"] if (m["name"], m["stratum"]) == ("grade-shift", test))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    write(folder, SIMULATED)
    for command in ("generate", "run"):
        CliRunner().invoke(cli, trusting([command, folder, "--yes"]))
    return folder


def test_each_half_is_found_in_the_judge_that_has_it_and_in_no_other(study):
    for judge, planted in (("sound", None), ("words", "own-words"), ("name", "own-claim")):
        report = record(study, judge)
        for test in ("own-words", "own-claim"):
            ends = shift(report, test)["interval"]
            assert (ends["low"] > 0.2) == (test == planted), (judge, test, ends)
            assert (ends["low"] <= 0 <= ends["high"]) == (test != planted), (judge, test, ends)
        [said] = [found["words"] for found in report["findings"] if found["kind"] == "self-preference"]
        assert said.count("rades") >= 2
        assert said.count("o difference shown") == (2 if planted is None else 1), said


def test_texts_without_a_counterpart_are_left_out_and_counted(study):
    tests = {test["name"]: test["made"] for test in record(study, "sound")["tests"]}
    other, own = tests["other-words"], tests["own-words"]
    assert 0 < other["accepted"] == own["accepted"] < ITEMS
    # The judge's own model wrote all of its texts; those that cannot be compared are no test cases.
    assert own["rejected"] == {ONE_TEXT: ITEMS - other["accepted"]}
    assert own["given_up"] == other["given_up"] == ITEMS - other["accepted"]
    # Claims are made on every text that is shown: two for each pair.
    assert tests["own-claim"]["proved"] == tests["other-claim"]["proved"] == 2 * other["accepted"]
    for test in ("own-words", "own-claim"):
        assert shift(record(study, "sound"), test)["denominator"] == other["accepted"] * (2 if "claim" in test else 1)


def test_a_comparison_takes_the_quality_of_the_writing_out(study, umpirical, tmp_path):
    code, out, err = umpirical("compare", study, "--out", tmp_path)
    assert code == 0, err
    assert out.count("so the writing does not explain it") == 4
    assert "words grades the words of the study's own_generator higher than sound" in out
    assert "name grades texts said to be its own higher than sound" in out
    [path] = tmp_path.rglob("comparison.json")
    [compared] = json.loads(path.read_text())["studies"]
    rows = [one for one in compared["differences"] if one["measure"] == "grade-shift"]
    assert Counter(one["stratum"] for one in rows) == {"own-words": 3, "own-claim": 3}
    assert all(one["difference"]["interval"] and one["adjusted_p"] is not None for one in rows)


def test_each_model_writes_its_own_texts(tmp_path, umpirical):
    asked = Counter()

    def reply(body):
        asked[body["model"]] += 1
        return answer({**body, "model": "writer" if body["model"] != "validator" else "validator"})

    with ChatServer(reply) as server:
        model = f'{{adapter: openai-compatible, name: NAME, base_url: "{server.base_url}", price: free}}'
        models = {"GENERATOR": "other-model", "OWN": "own-model", "VALIDATOR": "validator"}
        write(tmp_path, {place: model.replace("NAME", name) for place, name in models.items()})
        code, out, err = umpirical("generate", tmp_path, "--yes")
    assert code == 0, err
    assert asked["own-model"] >= ITEMS
    assert asked["other-model"] >= ITEMS
    assert "own-words" in out


# What a study may not say.

WRITER = {"model": {"adapter": "simulated-writer", "name": "generator"}}
OTHER = {"model": {"adapter": "simulated-writer", "name": "other-generator"}}
VALIDATOR = {"model": {"adapter": "simulated-writer", "name": "validator"}}


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({"tests": ["self-preference"], "generator": OTHER, "validator": VALIDATOR}, "needs own_generator"),
        (
            {"tests": ["self-preference"], "generator": WRITER, "own_generator": WRITER, "validator": VALIDATOR},
            "must be different models",
        ),
        (
            {"tests": ["own-words"], "generator": OTHER, "own_generator": WRITER, "validator": VALIDATOR},
            "own-words is compared with other-words: add that",
        ),
        ({"tests": ["own-claim"]}, "own-claim is compared with other-claim: add that"),
    ],
)
def test_a_study_that_cannot_measure_it_is_refused(spec, says):
    with pytest.raises(ValueError, match=says):
        StressSpec.model_validate(spec)


def test_claims_alone_need_no_generator():
    spec = StressSpec.model_validate({"tests": ["other-claim", "own-claim"]})
    assert [test.name for test in spec.proved] == ["other-claim", "own-claim"]
    assert not spec.writers


@pytest.mark.parametrize("claim", [OTHER_CLAIM, OWN_CLAIM])
def test_a_claim_is_one_line_and_proved_even_where_the_text_begins_with_one(claim):
    rng = np.random.default_rng(1)
    for text in ("A town.", "", OWN_CLAIM.change("A town.", rng), OTHER_CLAIM.change(OWN_CLAIM.change("x", rng), rng)):
        changed = claim.change(text, rng)
        assert changed.endswith(text)
        assert changed.count("\n\n") == text.count("\n\n") + 1
        assert prove(claim, text, changed)
        with pytest.raises(ValueError, match="differs from the original"):
            prove(claim, text, f"{changed} More.")


def test_a_sentence_never_contradicts_the_interval_beside_it():
    def said(*shifts):
        found = {}
        for test, (value, low, high) in zip(("own-words", "own-claim"), shifts, strict=False):
            result = Estimate(value, value * 40, 40, "item", Interval(low, high, method="m"), 40)
            found[test, "grade-shift"] = SimpleNamespace(name="grade-shift", scale="steps", result=result)
        return "; ".join(_self_preference(found))

    assert said((0.0, -0.1, 0.1)).startswith("no difference shown")
    # Of one comparison, its interval decides; of two, each needs a wider one.
    near = (0.75, 0.05, 1.5)
    assert said(near).startswith("grades its own model's words higher")
    assert said(near, (0.0, -0.1, 0.1)).startswith("may grade its own model's words higher")
    assert "not significant among two comparisons" in said((0.0, -0.1, 0.1), near)
    assert "grades texts said to be its own lower" in said(near, (-0.5, -0.6, -0.4))
