"""Simulated judges like those of the Dark Current paper: close to its published counts, in every run of its size."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.recovery.sampling import sample_tallies
from umpirical.domain.measures import Estimate
from umpirical.judges.simulated.comparer import true_values
from umpirical.judges.simulated.profiles import PAPER_PROFILES, PROFILES
from umpirical.measures.catalogue import MEASURES

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "dark_current.json").read_text(encoding="utf-8"))

KNOWN = PROFILES | PAPER_PROFILES

CASES = {
    "Llama8B": ("llama-8b", "baseline"),
    "Qwen14B": ("qwen-14b", "baseline"),
    "Qwen32B": ("qwen-32b", "baseline"),
    "Qwen32B_strict": ("qwen-32b", "strict"),
}

METRICS = {
    "dark_current": ("dark-current", ""),
    "raw_delta0_false_preference": ("raw-false-preference", ""),
    "delta0_tie_rate": ("tie-rate", "0"),
    "target_sensitivity_delta1": ("target-sensitivity", "1"),
    "delta1_tie_rate": ("tie-rate", "1"),
    "target_sensitivity_delta5": ("target-sensitivity", "5"),
    "delta5_tie_rate": ("tie-rate", "5"),
}

PARTS = {
    "SCS": "stable-cross-sensitivity",
    "PFP": "positional-false-preference",
    "OSC": "one-sided-commit",
    "NP": "no-preference",
}

STEPS = [1.0, 2.0, 3.0, 4.0, 5.0]


def published(judge: str) -> dict[tuple[str, str], float]:
    rows = [row for row in GOLDEN["wilson_rows"] if row["judge"] == judge]
    values = {METRICS[row["metric"]]: row["numerator"] / row["denominator"] for row in rows}
    counts = GOLDEN["decomposition"][judge]
    return values | {(name, ""): counts[part] / counts["denominator_pairs"] for part, name in PARTS.items()}


@pytest.mark.parametrize("judge", CASES)
def test_the_expected_values_are_those_published(judge):
    name, variant = CASES[judge]
    true_value = true_values(KNOWN[name], STEPS, variant)
    for key, value in published(judge).items():
        assert true_value[key] == pytest.approx(value, abs=0.04), key
        if key[0] not in PARTS.values():
            assert true_value[key] == pytest.approx(value, abs=0.005), key


@pytest.mark.parametrize("judge", CASES)
def test_published_values_lie_in_the_intervals_of_runs_of_the_papers_size(judge):
    """Ten tasks. A 95 % interval misses now and then, in 100 runs up to 13 times."""
    name, variant = CASES[judge]
    latent, rng, runs = KNOWN[name].under(variant), np.random.default_rng(8), 100
    held: dict[tuple[str, str], int] = dict.fromkeys(published(judge), 0)
    for _ in range(runs):
        tallies = sample_tallies(latent, rng, tasks=10)
        for measure_name in {key[0] for key in held}:
            for measure in MEASURES.get(measure_name).compute(tallies, "baseline"):
                key = (measure.name, measure.stratum)
                if key in held:
                    held[key] += inside(measure.result, published(judge)[key])
    assert {key: count for key, count in held.items() if count < 0.87 * runs} == {}


def inside(result, value: float) -> bool:
    assert isinstance(result, Estimate)
    return result.interval.low - 1e-9 <= value <= result.interval.high + 1e-9


def test_the_papers_threshold_of_llama_is_out_of_this_rules_reach():
    """61 of 100 at one requirement and 58 of 60 by the position leave a threshold near 1.6, against 4.0 in the
    paper."""
    assert true_values(KNOWN["llama-8b"], STEPS)["detection-threshold", ""] == pytest.approx(1.56, abs=0.01)


def test_strict_moves_the_criterion_and_leaves_the_resolution():
    qwen = PAPER_PROFILES["qwen-32b"]
    assert qwen.under("strict").resolution == qwen.latent.resolution
    assert qwen.under("strict").criterion - qwen.latent.criterion == pytest.approx(2.975)


def test_they_are_not_in_the_demo():
    assert not PAPER_PROFILES.keys() & PROFILES.keys()
