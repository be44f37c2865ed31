"""Simulated judges like those of the Dark Current paper. `tests/golden/test_paper_replication.py` has their counts."""

import pytest

from umpirical.judges.simulated.comparer import true_values
from umpirical.judges.simulated.profiles import PAPER_PROFILES, PROFILES

STEPS = [1.0, 2.0, 3.0, 4.0, 5.0]


def test_the_papers_threshold_of_llama_is_out_of_this_rules_reach():
    """61 of 100 at one requirement and 58 of 60 by the position leave a threshold near 1.6, against 4.0 in the
    paper."""
    assert true_values(PAPER_PROFILES["llama-8b"], STEPS)["detection-threshold", ""] == pytest.approx(1.56, abs=0.01)


def test_strict_moves_the_criterion_and_leaves_the_resolution():
    qwen = PAPER_PROFILES["qwen-32b"]
    assert qwen.under("strict").resolution == qwen.latent.resolution
    assert qwen.under("strict").criterion - qwen.latent.criterion == pytest.approx(3.877)


def test_they_are_not_in_the_demo():
    assert not PAPER_PROFILES.keys() & PROFILES.keys()
