"""Memory does not grow with the number of judgments; `benchmarks/million.py` runs the full size."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stimuli.built import lend_stimuli

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

CODE = """
import json, sys
from pathlib import Path
from million import datasheet_study, measure
study = datasheet_study(Path(sys.argv[1]), int(sys.argv[2]), "{adapter: simulated, name: careful}")
print(json.dumps(measure(study)))
"""


def measured(folder: Path, repeats: int) -> dict:
    """The benchmark in a process of its own, with stimuli that were made before."""
    lend_stimuli(folder, size="standard")
    command = [sys.executable, "-c", CODE, str(folder), str(repeats)]
    return json.loads(subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("repeats", [pytest.param(6, id="4,320"), pytest.param(11, id="7,920", marks=pytest.mark.slow)])
def test_five_times_the_judgments_take_little_more_memory(tmp_path, repeats):
    small, large = measured(tmp_path / "small", repeats), measured(tmp_path / "large", 5 * repeats)
    assert large["complete"]
    assert large["in_the_audit"] == large["trials"] == 5 * small["trials"]
    # For each judgment more, as much as a few of its fields would take.
    more = large["trials"] - small["trials"]
    assert large["asked_and_recorded_peak_mb"] - small["asked_and_recorded_peak_mb"] <= more * 50 / 32_000
    assert large["read_counted_and_measured_peak_mb"] - small["read_counted_and_measured_peak_mb"] <= more * 60 / 32_000
