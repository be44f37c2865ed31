"""Memory does not grow with the number of judgments; `benchmarks/million.py` runs the full size."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "million.py"


def measured(trials: int) -> dict:
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--trials", str(trials)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("trials", [4_000, pytest.param(8_000, marks=pytest.mark.slow)])
def test_five_times_the_judgments_take_little_more_memory(trials):
    small, large = measured(trials), measured(5 * trials)
    assert large["complete"]
    assert large["in_the_audit"] == large["trials"] > 4.9 * small["trials"]
    # For each judgment more, as much as a few of its fields would take.
    more = large["trials"] - small["trials"]
    assert large["asked_and_recorded_peak_mb"] - small["asked_and_recorded_peak_mb"] <= more * 50 / 32_000
    assert large["read_counted_and_measured_peak_mb"] - small["read_counted_and_measured_peak_mb"] <= more * 60 / 32_000
