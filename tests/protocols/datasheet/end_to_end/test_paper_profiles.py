"""Simulated judges like those of the Dark Current paper, run end to end in the paper's design.

What is asserted: over the first three seeds, none left out, a published figure lies in the datasheet's 95 % interval
for it in two runs of three at least, and in 95 of 100 of all such comparisons; CI looks at one judge and one seed. Not
asserted: the threshold of Llama 8B, 4.0 requirements in the paper, which no judge of the simulated rule has together
with its other figures; and anything about real models, which were not asked.
"""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.golden.test_paper_replication import METRICS as RATES
from tests.golden.test_paper_replication import PARTS
from tests.protocols.datasheet.end_to_end.conftest import Silent
from tests.stimuli.built import lend_stimuli
from umpirical.study.file import parse_study
from umpirical.study.prepare import prepare_run
from umpirical.study.run import complete_run

GOLDEN = json.loads((Path(__file__).parents[3] / "golden" / "dark_current.json").read_text(encoding="utf-8"))
SEEDS = (1, 2, 3)

JUDGES = {"llama-8b": ("baseline",), "qwen-14b": ("baseline",), "qwen-32b": ("baseline", "strict")}
"""Judge to variants."""

PUBLISHED = {
    ("llama-8b", "baseline"): "Llama8B",
    ("qwen-14b", "baseline"): "Qwen14B",
    ("qwen-32b", "baseline"): "Qwen32B",
    ("qwen-32b", "strict"): "Qwen32B_strict",
}

METRICS = RATES | {name: (measure, "") for name, measure in PARTS.items()}


def published(row: str) -> dict[tuple[str, str], float]:
    """Measure and part to the paper's figure."""
    rates = {r["metric"]: r["numerator"] / r["denominator"] for r in GOLDEN["wilson_rows"] if r["judge"] == row}
    shares = GOLDEN["decomposition"][row]
    rates |= {name: shares[name] / shares["denominator_pairs"] for name in PARTS}
    return {METRICS[name]: rate for name, rate in rates.items()}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Measures on demand: seed, judge and variant to the results of its datasheet, by measure and part."""

    @cache
    def measured(seed: int, name: str) -> dict[str, dict]:
        folder, variants = tmp_path_factory.mktemp(f"paper{seed}"), JUDGES[name]
        lend_stimuli(folder, size="paper", seed=seed)
        text = f"study: paper\nseed: {seed}\ndesign: {{size: paper, variants: [{', '.join(variants)}]}}\n"
        text += f"judges:\n  - {{name: {name}, model: {{adapter: simulated, name: {name}}}}}\n"
        study = parse_study(text, folder)
        datasheet = complete_run(prepare_run(study, study.spec.judges[0]), 8, lambda *_: Silent()).record
        assert datasheet.complete
        assert datasheet.run.trials == 620 * len(variants)
        return {
            variant: {(m.name, m.stratum): m.result for m in datasheet.measures if m.variant == variant}
            for variant in variants
        }

    return lambda seed, name, variant: measured(seed, name)[variant]


def inside(result, value: float) -> bool:
    low, high = result.interval.low, result.interval.high
    return (low is None or low <= value + 1e-9) and (high is None or value <= high + 1e-9)


def test_of_the_figures_of_one_judge_and_seed_nearly_all_lie_in_their_intervals(results):
    held = [
        inside(results(1, "qwen-32b", variant)[key], value)
        for variant in JUDGES["qwen-32b"]
        for key, value in published(PUBLISHED["qwen-32b", variant]).items()
    ]
    assert len(held) >= 20
    assert sum(held) / len(held) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("judge", "variant"), PUBLISHED)
def test_every_published_figure_lies_in_the_interval_of_two_runs_in_three(results, judge, variant):
    figures = published(PUBLISHED[judge, variant])
    assert len(figures) >= 10
    held = Counter(
        key for seed in SEEDS for key, value in figures.items() if inside(results(seed, judge, variant)[key], value)
    )
    assert {key: count for key in figures if (count := held[key]) < 2} == {}


@pytest.mark.slow
def test_of_all_comparisons_95_in_100_hold(results):
    held = [
        inside(results(seed, judge, variant)[key], value)
        for (judge, variant), row in PUBLISHED.items()
        for key, value in published(row).items()
        for seed in SEEDS
    ]
    assert len(held) >= 120
    assert sum(held) / len(held) >= 0.95


def test_denominators_are_the_papers(results):
    found = results(1, "qwen-32b", "baseline")
    assert found["dark-current", ""].denominator == 120
    assert found["stable-cross-sensitivity", ""].denominator == 60
    assert [found["target-sensitivity", f"{step}"].denominator for step in range(1, 6)] == [50, 40, 30, 20, 10]


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in SEEDS[1:])])
def test_the_strict_instruction_trades_sensitivity_at_one_requirement_for_ties_at_none(results, seed):
    loose, strict = (results(seed, "qwen-32b", variant) for variant in ("baseline", "strict"))
    assert strict["no-preference", ""].interval.low > loose["no-preference", ""].interval.high
    assert strict["target-sensitivity", "1"].interval.high < loose["target-sensitivity", "1"].interval.low
    assert strict["target-sensitivity", "5"].value == loose["target-sensitivity", "5"].value == 1
