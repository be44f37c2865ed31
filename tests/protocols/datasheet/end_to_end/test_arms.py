"""Adding an arm is one prompt file: named in the study, it is asked, measured and held against the baseline."""

from collections import Counter

import pytest

from tests.protocols.datasheet.end_to_end.conftest import Silent
from umpirical.domain.errors import UsageError
from umpirical.judges.prompt import builtin_prompt
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.datasheet.spec import DatasheetDesignSpec
from umpirical.runs.run import open_run
from umpirical.study.file import check_study, parse_study, read_study
from umpirical.study.run import complete_run, plan_runs

STUDY = """
study: arms
tasks: [hall-minutes, jam-batch]
design: {size: screen}
judges:
  - name: one
    model: {adapter: simulated, name: careful}
    prompts: {baseline: builtin:compare, gentle: gentle.md}
"""


def test_a_prompt_file_is_an_arm(tmp_path):
    gentle = builtin_prompt("compare").replace("You compare", "Please compare", 1)
    (tmp_path / "gentle.md").write_text(gentle)
    [run] = plan_runs(parse_study(STUDY, tmp_path), [])
    complete_run(run, 16, lambda *_: Silent())
    sheet = DATASHEET.report(open_run(run.store.folder))
    assert sheet.run.arms == ["baseline", "gentle"]
    assert sheet.judge.prompts["gentle"] == gentle
    asked = {arm: {m.name for m in sheet.measures if m.arm == arm} for arm in sheet.run.arms}
    assert asked["gentle"] - asked["baseline"] >= {"criterion-shift", "sensitivity-shift"}
    assert asked["baseline"] <= asked["gentle"]
    planned = {arm: sum(row.planned for row in sheet.audit if row.arm == arm) for arm in sheet.run.arms}
    assert planned["gentle"] == planned["baseline"] > 0


PROBE = """
study: probe
tasks: [hall-minutes, jam-batch, window-dew]
design: {size: paper, arms: {strict: {prompt: strict, steps: [0, 1, 5]}}}
judges:
  - {name: one, model: {adapter: simulated, name: careful}}
"""


@pytest.fixture(scope="module")
def probe(tmp_path_factory):
    [run] = plan_runs(parse_study(PROBE, tmp_path_factory.mktemp("probe")), [])
    complete_run(run, 16, lambda *_: Silent())
    return DATASHEET.report(open_run(run.store.folder))


def asked_in(sheet, arm):
    rows = [row for row in sheet.audit if row.arm == arm]
    return Counter({(row.family, row.delta): 0 for row in rows}) + Counter(
        (row.family, row.delta) for row in rows for _ in range(row.planned)
    )


def test_a_probe_is_asked_at_its_steps_only(probe):
    baseline, strict = (asked_in(probe, arm) for arm in ("baseline", "strict"))
    assert set(strict) == {("delta0", 0.0), ("ladder", 1.0), ("ladder", 5.0)}
    assert set(strict) < set(baseline)
    assert all(strict[part] == baseline[part] for part in strict)
    assert probe.run.trials == baseline.total() + strict.total()


def test_a_probe_moves_the_criterion_on_the_pairs_that_both_arms_share(probe):
    shifts = {m.stratum: m.result for m in probe.measures if m.name == "criterion-shift"}
    assert set(shifts) == {"0", "1", "5"}
    pairs = {m.stratum: m.result.denominator for m in probe.measures if m.name == "tie-rate" and m.arm == "strict"}
    assert {step: result.denominator for step, result in shifts.items()} == pairs


def test_a_probe_has_neither_dark_current_nor_threshold(probe):
    found = {m.name: m.result for m in probe.measures if m.arm == "strict" and not m.stratum}
    assert found["dark-current"].kind == "undefined"
    assert "differences of 1, 5" in found["detection-threshold"].reason


def test_the_price_is_that_of_the_calls_that_are_planned(probe, tmp_path):
    (tmp_path / "umpirical.yaml").write_text(PROBE)
    assert check_study(read_study(tmp_path / "umpirical.yaml"), {}).calls == {"one": probe.run.trials}


@pytest.mark.parametrize(
    ("arms", "problem"),
    [
        ("{strict: {steps: [0, 7]}}", "no pair has a difference of 7"),
        ("{strict: {steps: [-1]}}", "0 or more"),
        ("{strict: {steps: [1, 1]}}", "distinct"),
        ("{baseline: {steps: [1]}}", "cannot have steps"),
        ("{strict: {steps: []}}", "at least 1"),
        ("{strict: {stages: [1]}}", "stages"),
        ("{odd: {}}", "unknown built-in prompt"),
    ],
)
def test_a_probe_that_cannot_be_asked_is_refused(tmp_path, arms, problem):
    text = PROBE.replace("{strict: {prompt: strict, steps: [0, 1, 5]}}", arms)
    with pytest.raises((UsageError, ValueError), match=problem):
        plan_runs(parse_study(text, tmp_path), [])


def test_arms_are_names_or_names_with_what_they_ask():
    design = DatasheetDesignSpec.model_validate({"arms": ["baseline", "strict"]})
    assert (design.prompts, design.steps) == ({"baseline": "baseline", "strict": "strict"}, {})
    probe = DatasheetDesignSpec.model_validate({"arms": {"tight": {"prompt": "strict", "steps": [0, 5]}}})
    assert (probe.prompts, probe.steps) == ({"baseline": "baseline", "tight": "strict"}, {"tight": (0, 5)})
    schema = DatasheetDesignSpec.model_json_schema()["properties"]["arms"]
    assert {option["type"] for option in schema["anyOf"]} == {"array", "object"}
