"""What scale costs, on a small size; `benchmarks/scale.py` measures the full one."""

import json
import subprocess
import sys
from pathlib import Path

from tests.stimuli.built import lend_stimuli

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

CODE = """
import json, sys
from pathlib import Path
from scaling.planning import measured
print(json.dumps(measured(Path(sys.argv[1]), 120, times=3)))
"""

COUNTED = """
import json, sys
from pathlib import Path
from scaling.analysis import write_judgments
from umpirical.protocols.datasheet.counting import tally_judgments
from umpirical.store import sql
sql.MEMORY = "128MB"
file = Path(sys.argv[1]) / "judgments.parquet"
write_judgments(file, 400_000)
tallies = tally_judgments(file)
print(json.dumps([sum(tally.pairs for tally in tallies.pairs), sum(tally.pairs for tally in tallies.outcomes)]))
"""


def test_pairs_are_counted_in_less_memory_than_they_take(tmp_path):
    """What does not fit is spilled to disk: with a set of values kept for each pair, this ran out of memory."""
    command = [sys.executable, "-c", COUNTED, str(tmp_path)]
    done = subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-1000:]
    assert json.loads(done.stdout) == [200_000, 200_000]


def test_a_stress_trial_is_planned_at_a_small_multiple_of_a_trial_of_a_datasheet(tmp_path):
    """Without its stimuli being made again, and with nothing that is done anew for every trial or every shard."""
    lend_stimuli(tmp_path / "datasheet")
    command = [sys.executable, "-c", CODE, str(tmp_path)]
    found = json.loads(subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, check=True).stdout)
    assert found["stress_stimuli"] > 120 * 6
    assert found["stress_trials"] > 2 * found["stress_stimuli"]
    # 3 to 5 at full size. The datasheet asks each question hundreds of times, which is rendered once.
    assert found["stress_plan_vs_datasheet_plan"] < 10
    # Making them takes many times as long: whoever makes them twice is seen here.
    assert found["stress_plan_cpu_per_trial"] < found["stress_make_cpu_per_stimulus"] / 2
