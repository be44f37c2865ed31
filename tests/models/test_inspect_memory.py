"""Inspect keeps a record of every call in the context it was made in; ours must all be gone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def measured(first, more):
    command = [sys.executable, "-m", "tests.models.inspect_memory", str(first), str(more)]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=600).stdout)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads memory from /proc")
def test_four_hundred_calls_take_no_more_memory_than_one_hundred():
    found = measured(100, 300)
    assert found["kept"] == 0
    # Kept records would be 3.2 MB at 10.8 KB each. Objects are counted rather than pages: how many pages the allocator
    # holds depends on what else the machine does.
    assert found["objects"] < 1


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads memory from /proc")
def test_memory_is_flat_over_five_thousand_calls():
    found = measured(500, 5000)
    assert found["kept"] == 0
    assert found["grown"] <= 50
