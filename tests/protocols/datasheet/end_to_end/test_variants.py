"""Adding a variant is one prompt file: named in the study, it is asked, measured and held against the baseline."""

import json
import re
from collections import Counter
from dataclasses import replace

import pytest

from tests.protocols.datasheet.end_to_end.conftest import Silent
from tests.servers.chat_server import ChatServer
from umpirical.domain.errors import UsageError
from umpirical.judges.prompt import builtin_prompt
from umpirical.judges.simulated.profiles import PROFILES
from umpirical.protocols.datasheet.findings import find
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.datasheet.spec import DatasheetDesignSpec
from umpirical.runs.run import open_run
from umpirical.stats.simulation.judge import correct_rate
from umpirical.study.file import check_study, parse_study, read_study
from umpirical.study.run import complete_run, plan_runs

STUDY = """
study: variants
tasks: [hall-minutes, jam-batch]
design: {size: screen}
judges:
  - name: one
    model: {adapter: simulated, name: careful}
    prompts: {baseline: builtin:compare, gentle: gentle.md}
"""


def test_a_prompt_file_is_an_variant(tmp_path):
    gentle = builtin_prompt("compare").replace("You compare", "Please compare", 1)
    (tmp_path / "gentle.md").write_text(gentle)
    [run] = plan_runs(parse_study(STUDY, tmp_path), [])
    complete_run(run, 16, lambda *_: Silent())
    sheet = DATASHEET.report(open_run(run.store.folder))
    assert sheet.run.variants == ["baseline", "gentle"]
    assert sheet.judge.prompts["gentle"] == gentle
    asked = {variant: {m.name for m in sheet.measures if m.variant == variant} for variant in sheet.run.variants}
    assert asked["gentle"] - asked["baseline"] >= {"criterion-shift", "sensitivity-shift"}
    assert asked["baseline"] <= asked["gentle"]
    planned = {
        variant: sum(row.planned for row in sheet.audit if row.variant == variant) for variant in sheet.run.variants
    }
    assert planned["gentle"] == planned["baseline"] > 0


PROBE = """
study: probe
tasks: [hall-minutes, jam-batch, window-dew]
design: {size: paper, variants: {strict: {prompt: strict, steps: [0, 1, 5]}}}
judges:
  - {name: one, model: {adapter: simulated, name: careful}}
"""


@pytest.fixture(scope="module")
def probe(tmp_path_factory):
    [run] = plan_runs(parse_study(PROBE, tmp_path_factory.mktemp("probe")), [])
    complete_run(run, 16, lambda *_: Silent())
    return DATASHEET.report(open_run(run.store.folder))


def asked_in(sheet, variant):
    rows = [row for row in sheet.audit if row.variant == variant]
    return Counter({(row.family, row.delta): 0 for row in rows}) + Counter(
        (row.family, row.delta) for row in rows for _ in range(row.planned)
    )


def test_a_probe_is_asked_at_its_steps_only(probe):
    baseline, strict = (asked_in(probe, variant) for variant in ("baseline", "strict"))
    assert set(strict) == {("equal", 0.0), ("graded", 1.0), ("graded", 5.0)}
    assert set(strict) < set(baseline)
    assert all(strict[part] == baseline[part] for part in strict)
    assert probe.run.trials == baseline.total() + strict.total()


def test_a_probe_moves_the_criterion_on_the_pairs_that_both_variants_share(probe):
    shifts = {m.stratum: m.result for m in probe.measures if m.name == "criterion-shift"}
    assert set(shifts) == {"0", "1", "5"}
    pairs = {m.stratum: m.result.denominator for m in probe.measures if m.name == "tie-rate" and m.variant == "strict"}
    assert {step: result.denominator for step, result in shifts.items()} == pairs


def test_a_probe_has_neither_dark_current_nor_threshold(probe):
    found = {m.name: m.result for m in probe.measures if m.variant == "strict" and not m.stratum}
    assert found["dark-current"].kind == "undefined"
    assert "differences of 1, 5" in found["detection-threshold"].reason


def test_the_price_is_that_of_the_calls_that_are_planned(probe, tmp_path):
    (tmp_path / "umpirical.yaml").write_text(PROBE)
    assert check_study(read_study(tmp_path / "umpirical.yaml"), {}).calls == {"one": probe.run.trials}


@pytest.mark.parametrize(
    ("variants", "problem"),
    [
        ("{strict: {steps: [0, 7]}}", "no pair has a difference of 7"),
        ("{strict: {steps: [-1]}}", "0 or more"),
        ("{strict: {steps: [1, 1]}}", "distinct"),
        ("{baseline: {steps: [1]}}", "cannot have steps"),
        ("{strict: {steps: []}}", "at least 1"),
        ("{strict: {stages: [1]}}", "stages"),
        ("{odd: {}}", "unknown built-in prompt"),
        ("{warm: {temperature: 0}}", "has the temperature that judge one has anyway"),
        ("{warm: {temperature: 1, prompt: strict}}", "a prompt or a temperature"),
        ("{baseline: {temperature: 1}}", "the judge's own temperature"),
        ("{warm: {temperature: -1}}", "greater than or equal to 0"),
    ],
)
def test_a_probe_that_cannot_be_asked_is_refused(tmp_path, variants, problem):
    text = PROBE.replace("{strict: {prompt: strict, steps: [0, 1, 5]}}", variants)
    with pytest.raises((UsageError, ValueError), match=problem):
        plan_runs(parse_study(text, tmp_path), [])


def test_variants_are_names_or_names_with_what_they_ask():
    design = DatasheetDesignSpec.model_validate({"variants": ["baseline", "strict"]})
    assert (design.prompts, design.steps) == ({"baseline": "baseline", "strict": "strict"}, {})
    probe = DatasheetDesignSpec.model_validate({"variants": {"tight": {"prompt": "strict", "steps": [0, 5]}}})
    assert (probe.prompts, probe.steps) == ({"baseline": "baseline", "tight": "strict"}, {"tight": (0, 5)})
    schema = DatasheetDesignSpec.model_json_schema()["properties"]["variants"]
    assert {option["type"] for option in schema["anyOf"]} == {"array", "object"}


def test_a_judge_that_loses_the_thread_of_a_long_prompt_is_said_to(tmp_path, monkeypatch):
    latent = replace(PROFILES["careful"].latent, resolution=2.0)
    profile = replace(PROFILES["careful"], detail_gain=-0.8, latent=latent)
    monkeypatch.setitem(PROFILES, "careful", profile)
    study = """
study: s
tasks: [hall-minutes, jam-batch, window-dew, market-stall, oily-rags, tool-hire]
design: {size: screen, variants: [prompt-complexity]}
judges: [{name: one, model: {adapter: simulated, name: careful}}]
"""
    [run] = plan_runs(parse_study(study, tmp_path), [])
    complete_run(run, 16, lambda *_: Silent())
    sheet = DATASHEET.report(open_run(run.store.folder))
    assert sheet.run.variants == ["baseline", "short", "guided", "example"]
    assert asked_in(sheet, "short") == asked_in(sheet, "guided") == asked_in(sheet, "example")
    [shift] = [m for m in sheet.measures if (m.name, m.stratum) == ("complexity-shift", "1")]
    short, example = (float(correct_rate(profile.under(variant), 1.0)) for variant in ("short", "example"))
    assert shift.result.interval.low <= example - short <= shift.result.interval.high < 0
    said = find(sheet.measures, sheet.checks)
    assert [words for words in said if "make it less accurate than a short prompt" in words]
    assert not [words for words in said if "rompt" in words and "not measured" in words]
    wide = replace(shift.result, interval=replace(shift.result.interval, high=0.1))
    unsure = shift.model_copy(update={"result": wide})
    [words] = [words for words in find([unsure], []) if "prompt length" in words]
    assert words.startswith("Prompt variant example: No effect of prompt length on accuracy is shown: ")


SWEEP = """
study: sweep
tasks: [hall-minutes, jam-batch, window-dew]
design:
  size: screen
  variants: {t0.5: {temperature: 0.5, steps: [0, 1, 5]}, t1: {temperature: 1, steps: [0, 1, 5]}}
judges:
  - {name: one, model: {adapter: openai-compatible, name: m, base_url: BASE, price: free}}
"""


def bolder_when_warm(body):
    """Ties between all pairs at a temperature up to a half, and names the first position above that."""
    return json.dumps({"verdict": "tie" if body.get("temperature", 0) <= 0.5 else first_label(body)})


def first_label(body):
    return re.search(r"\[candidate (\w+),", body["messages"][-1]["content"])[1]


def test_the_criterion_is_measured_at_each_temperature(tmp_path):
    with ChatServer(bolder_when_warm) as server:
        study = parse_study(SWEEP.replace("BASE", f'"{server.base_url}"'), tmp_path)
        [run] = plan_runs(study, [])
        complete_run(run, 16, lambda *_: Silent())
        sent = Counter(body.get("temperature") for body in server.bodies)
    sheet = DATASHEET.report(open_run(run.store.folder))
    asked = {variant: asked_in(sheet, variant).total() for variant in sheet.run.variants}
    assert sent == {0: asked["baseline"], 0.5: asked["t0.5"], 1: asked["t1"]}
    assert asked["t0.5"] == asked["t1"] < asked["baseline"]
    # All variants have one prompt, and the criterion moves between a half and one.
    assert len(set(sheet.judge.prompts.values())) == 1
    shifts = {
        (m.variant, m.stratum): m.result.value
        for m in sheet.measures
        if m.name == "criterion-shift" and m.result.kind == "estimate"
    }
    assert shifts == {("t0.5", step): 0 for step in "015"} | {("t1", step): -1 for step in "015"}
    # Read again from disk, the run has the same design.
    again = DATASHEET.design_of(open_run(run.store.folder))
    assert again.sampling == {"t0.5": '{"temperature": 0.5}', "t1": '{"temperature": 1.0}'}
