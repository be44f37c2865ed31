"""The checks can fail: each classic mistake, made on purpose in a copy of the source, is caught by a named test."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KNOWN_JUDGES = "tests/protocols/datasheet/end_to_end/test_known_judges.py"

COUNTING = "tests/protocols/datasheet/test_counting.py"

MUTATIONS = {
    "slot taken for content": (
        "measures/counting/pairs.py",
        """avg((settled is not null)::int) filter (complete) as stable,
  avg((slot_1 = 2 or slot_2 = 2)::int) filter (complete) as positional,""",
        """avg((slot_1 = 2 or slot_2 = 2)::int) filter (complete) as stable,
  avg((settled is not null)::int) filter (complete) as positional,""",
        [f"{KNOWN_JUDGES}::test_a_judge_that_always_says_1_is_all_positional_and_half_right"],
    ),
    "slots mapped back to the wrong content": (
        "measures/counting/pairs.py",
        "uv1 + vu2 as chose_u, uv2 + vu1 as chose_v",
        "uv2 + vu1 as chose_u, uv1 + vu2 as chose_v",
        [f"{KNOWN_JUDGES}::test_an_oracle_is_always_right_and_never_prefers_without_reason"],
    ),
    "candidates shown in the wrong slots": (
        "runs/plan.py",
        "(u, v) if order is Order.UV else (v, u)",
        "(v, u) if order is Order.UV else (u, v)",
        [f"{KNOWN_JUDGES}::test_an_oracle_is_always_right_and_never_prefers_without_reason"],
    ),
    "the half on one-sided commits dropped": (
        "measures/estimates/pairs.py",
        "tally.one_sided / 2",
        "tally.one_sided",
        ["tests/golden/test_dark_current.py"],
    ),
    "ties counted correct": (
        "measures/estimates/pairs.py",
        "tally.correct_calls / 2",
        "(tally.correct_calls + tally.tie_calls) / 2",
        [f"{KNOWN_JUDGES}::test_a_judge_that_always_ties_sees_nothing_and_is_not_thought_right"],
    ),
    "ties counted correct when counting": (
        "measures/counting/pairs.py",
        "when 'v' then chose_v else 0 end as correct",
        "when 'v' then chose_v else 0 end + ties as correct",
        [f"{KNOWN_JUDGES}::test_a_judge_that_always_ties_sees_nothing_and_is_not_thought_right"],
    ),
    "repeats counted as pairs": (
        "measures/counting/pairs.py",
        "select cluster, arm, family, delta, stratum, stimulus_id,\n  count",
        "select cluster, arm, family, delta, stratum, stimulus_id, repeat,\n  count",
        [f"{COUNTING}::test_a_pair_counts_once_however_often_it_is_repeated"],
    ),
    "an abstention counted as a tie": (
        "measures/counting/pairs.py",
        "uvt + vut as ties",
        "uvt + vut + uva + vua as ties",
        [f"{COUNTING}::test_an_abstention_is_no_tie_and_not_in_the_model"],
    ),
    "an abstention in the model": (
        "protocols/datasheet/counting.py",
        "from pair where decided group by all",
        "from pair where complete group by all",
        [f"{COUNTING}::test_an_abstention_is_no_tie_and_not_in_the_model"],
    ),
    "the versions of a quad swapped": (
        "measures/counting/pairs.py",
        "sum(good * other_good)",
        "sum(good * (other_won - other_good))",
        [f"{COUNTING}::test_each_kind_of_quad_by_hand"],
    ),
    "the orders of a quad ignored": (
        "measures/counting/pairs.py",
        "case when chose_u = 2 then 'u' when chose_v = 2 then 'v' end as settled",
        "case when chose_u > 0 then 'u' when chose_v > 0 then 'v' end as settled",
        [f"{COUNTING}::test_each_kind_of_quad_by_hand"],
    ),
    "repeats of a quad counted as quads": (
        "measures/counting/pairs.py",
        "select cluster, arm, family, stratum, delta, quad, version,",
        "select cluster, arm, family, stratum, delta, quad, version, repeat,",
        [f"{COUNTING}::test_repeats_of_a_quad_are_combined_and_the_quad_counts_once"],
    ),
    "halves of a quad that share a slot": (
        "measures/counting/pairs.py",
        "(a.uv + b.vu) / 2 * (a.vu + b.uv) / 2",
        "(a.uv + b.uv) / 2 * (a.vu + b.vu) / 2",
        [f"{COUNTING}::test_each_kind_of_quad_by_hand"],
    ),
    "pairs taken for independent": (
        "stats/intervals.py",
        "low, high = _cautious(p, units / (effect or 1.0), clusters, level)",
        "low, high = wilson(p * units, units, level=level)",
        ["tests/recovery/test_recovery.py::test_cluster_wilson_covers_with_intra_task_correlation"],
    ),
    "an unparsed answer becomes a tie": (
        "runs/judgments.py",
        'return said | {"outcome": "unparsed", "why": why}',
        'return said | {"outcome": "verdict", "choice": "tie"}',
        [f"{KNOWN_JUDGES}::test_what_is_not_on_the_scale_is_left_out_shown_and_bounded"],
    ),
}


def run_tests(source: Path, tests: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", MUTATIONS)
def test_each_mistake_is_caught(name, tmp_path):
    file, right, wrong, tests = MUTATIONS[name]
    shutil.copytree(ROOT / "src", tmp_path / "src")
    mutated = tmp_path / "src" / "umpirical" / file
    text = mutated.read_text()
    assert text.count(right) == 1, "the mutation no longer fits the source"
    mutated.write_text(text.replace(right, wrong))
    result = run_tests(tmp_path / "src", tests)
    assert result.returncode == 1, result.stdout[-2000:]
    assert " failed" in result.stdout


def test_without_a_mistake_the_same_tests_pass(tmp_path):
    """The harness itself: an unchanged copy passes, so it is the mutation that fails."""
    shutil.copytree(ROOT / "src", tmp_path / "src")
    tests = sorted({test for *_, tests in MUTATIONS.values() for test in tests if "recovery" not in test})
    result = run_tests(tmp_path / "src", tests)
    assert result.returncode == 0, result.stdout[-2000:]
